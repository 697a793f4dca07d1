/** What the desk knows: fifty kinds of things that an office keeps, and what each is. */

/** A kind of thing, in singular and plural, and what people say of it. */
export interface Kind {
  readonly name: string;
  readonly plural: string;
  readonly about: string;
}

const lines = `
ticket|tickets|a customer's request for help
invoice|invoices|money that a customer owes
payment|payments|money that came in or went out
refund|refunds|money given back to a customer
customer|customers|a person or company that buys
lead|leads|somebody who may become a customer
deal|deals|a sale that is being negotiated
quote|quotes|a price offered in writing
order|orders|what a customer has bought
shipment|shipments|goods on their way, with carrier and tracking number
parcel|parcels|one package of a delivery
return_request|return requests|goods that a customer sends back
product|products|an article of the catalogue with its price
warehouse|warehouses|a place where stock is kept
stock_item|stock items|how many pieces of an article are on the shelf
supplier|suppliers|a company that delivers to us
purchase|purchases|something ordered from a supplier
contract|contracts|an agreement with its terms and end
employee|employees|a person who works here
vacation|vacations|days off that somebody takes
timesheet|timesheets|hours that somebody has worked
expense|expenses|costs that an employee claims back
candidate|candidates|somebody who applies for a job
vacancy|vacancies|an open position
training|trainings|a course that employees attend
meeting|meetings|people who come together at a time
room|rooms|a place to book for meetings
calendar_event|calendar events|an appointment
reminder|reminders|a note that comes back at a time
project|projects|work with a goal and a budget
milestone|milestones|a date by which a part of a project is done
task|tasks|a piece of work for one person
bug|bugs|a defect of the software
release|releases|a version of the software that goes out
deployment|deployments|a release on its way to servers
branch|branches|a line of development in a repository
server|servers|a machine that runs services
incident|incidents|an outage that is being handled
alert|alerts|a warning of the monitoring
backup|backups|a copy of data for the worst case
certificate|certificates|proof of a server's identity, with an expiry date
domain|domains|a name on the internet
document|documents|a text with its versions
folder|folders|a place for documents
survey|surveys|questions to many people
campaign|campaigns|advertising with a budget and an audience
newsletter|newsletters|an e-mail to all subscribers
subscriber|subscribers|somebody who gets the newsletter
vehicle|vehicles|a car or van of the fleet
license|licenses|the right to use a piece of software`;

export const kinds: readonly Kind[] = lines.trim().split('\n').map((line) => {
  const [name = '', plural = '', about = ''] = line.split('|');
  return { name, plural, about };
});
