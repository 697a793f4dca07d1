/** A small thesaurus of tool talk, from general knowledge: each line names words that people use for the same thing. */

import { stem } from './stem.ts';

/** The words for each word, all as stems. */
export type Thesaurus = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Creates a thesaurus of groups of words, one group a line.
 *
 * @example
 * createToolIndex(tools, { thesaurus: createThesaurus(`${commonSynonyms}\nvessel boat ship`) });
 */
export function createThesaurus(groups: string): Thesaurus {
  const synonyms = new Map<string, Set<string>>();
  for (const line of groups.split('\n')) {
    const group = line.trim().split(/\s+/).map((word) => stem(word.toLowerCase()));
    for (const word of group) {
      const others = synonyms.get(word) ?? new Set();
      for (const other of group) if (other !== word) others.add(other);
      synonyms.set(word, others);
    }
  }
  return synonyms;
}

/** The groups that every index knows unless it is given others. */
export const commonSynonyms = `
get retrieve fetch obtain read view
list enumerate browse
search lookup query seek discover
create add new make insert generate
generate produce create
update modify edit change alter set
delete remove erase drop clear
send post submit publish deliver
run execute launch start invoke
stop cancel abort terminate kill end
check verify validate confirm test
compute calculate
convert transform translate
compare difference diff versus
analyze analysis examine inspect
summarize summary digest
recommend suggest
book reserve
buy purchase order shop
price cost quote rate
weather forecast temperature climate
picture image photo photograph
video movie clip film
movie film cinema
song music track tune audio
document doc file paper
folder directory
message email mail chat
email mail inbox
website webpage site web url page
link url hyperlink
location place position address coordinates
map route directions navigation
near nearby around
company business organization firm
stock share equity ticker
crypto cryptocurrency bitcoin coin token
currency exchange forex
news headline article
article paper publication
job career employment vacancy position
repository repo git github
branch fork
commit push
issue bug ticket
task todo reminder
calendar schedule event meeting appointment
meeting conference
flight airline plane airport
train railway rail
hotel accommodation lodging stay
restaurant dining food meal
recipe cook dish ingredient
health medical medicine
drug medication medicine
doctor physician
exercise workout fitness
sport game match
team club
player athlete
user account profile member
people person contact
login authenticate signin
password credential
database db sql
table sheet spreadsheet
spreadsheet excel
row record entry
column field
chart graph plot diagram
draw paint sketch
shape box rectangle
presentation slides powerpoint
slide page
language translation
word vocabulary term
definition meaning define dictionary
book novel
code program script
container docker
cluster kubernetes
log history
history past historical previous
statistics stats metrics
domain dns whois
phone telephone mobile number
sms text
car vehicle automobile
house home property estate
date day
time clock timezone
latest recent newest
popular trending top
download save export
upload import
copy duplicate clone
move transfer
install setup
screenshot capture
click press tap
type enter input
college university school
student pupil
course class lesson
teach learn education tutorial
quiz question
joke humor funny
gift present
zip postal postcode
country nation
city town
tax vat
loan mortgage credit
invoice bill receipt
payment pay checkout
customer client
product item goods
discount coupon deal promo
package parcel shipment
track trace monitor
delivery shipping
score result
ranking leaderboard standings
review rating feedback
comment reply
tag label
count number amount quantity
size dimension
encrypt encode
decode decrypt
memory note remember
note memo
knowledge wiki wikipedia
law legal attorney
crime criminal
security vulnerability
animal pet
plant flower
color colour
font typography
design style
logo brand
astronomy space planet
horoscope zodiac astrology
poem poetry
story tale narrative
anime manga
subscribe follow
open raise create
trip travel vacation holiday tour itinerary
movie series
food nutrition diet meal
outfit clothing fashion apparel
grammar spelling proofread writing
invest finance financial
resume cv
child kid
deploy release rollout
close archive resolve
`.trim();
