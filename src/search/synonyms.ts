/**
 * Words that people use for the same thing, from general knowledge. The first word of a group is near each of the others, and these
 * are less near each other. Loaded with the sources that search by words, not with the entry.
 */

export const synonymGroups = `
get retrieve fetch obtain read load receive; list enumerate browse overview; search find lookup query seek;
create make generate build produce construct new; add insert append include attach put;
update modify edit change alter adjust amend revise; replace substitute swap exchange;
delete remove erase drop clear purge discard; send submit transmit deliver dispatch push emit;
run execute launch start invoke trigger perform; begin start initiate initialize commence;
stop cancel abort terminate end halt quit; pause suspend hold freeze; resume continue restart;
finish complete end done conclude; check verify validate confirm test examine inspect; ensure guarantee assure;
prove proof evidence demonstrate; compute calculate calculation count sum; convert transform translate map cast;
parse interpret decode read; compare difference diff versus comparison; equal same identical match;
choose select pick option prefer decide; decide determine detect decision; guess infer detect deduce estimate;
define declare specify describe; explain describe clarify meaning; display show render present print view;
hide conceal mask invisible; open unlock access; close shut lock; allow permit enable let authorize grant;
forbid deny block reject refuse disallow prevent prohibit ban; reject refuse decline deny; avoid prevent stop protect;
limit restrict cap maximum quota threshold restriction ceiling; minimum least lowest floor;
increase raise grow extend higher lift boost; decrease reduce lower lessen cut shrink; extend expand enlarge prolong;
share distribute split divide; join merge combine concatenate unite link; split divide separate cut partition;
mount attach embed nest; nest nested inner child; parent ancestor outer container; copy duplicate clone replicate;
move transfer relocate migrate; rename name title label; sort order rank arrange; filter exclude narrow;
group category class kind type sort; whole entire complete full all global;
part piece portion section segment chunk fragment component; chunk piece part block stream; empty blank null missing void;
missing absent lost omitted lacking; skip omit ignore bypass leave; optional voluntary;
required mandatory necessary must obligatory requirement need; default standard preset initial usual;
custom own personal customized bespoke; automatic automatically auto; manual manually hand;
quick fast rapid speed instant immediate quickly; slow delay late lag; soon immediate early; again repeat retry reuse;
once single one; several multiple many; several few multiple; pair two double both couple; reuse recycle cache;
temporary interim provisional; permanent lasting durable; current present active now existing;
old former previous past legacy earlier prior; new latest recent modern;
error exception failure fault problem issue bug mistake; fail failure broken wrong error crash;
throw raise exception error; fix repair resolve solve correct troubleshoot; help support assist aid assistance;
contribute help participate contribution; advice guidance recommend tip suggestion;
guide tutorial manual instruction documentation howto; example sample demo illustration;
settings configuration options preferences config setup; option parameter argument setting flag; install setup add;
command cli terminal console shell; tool utility helper program; helper utility function tool;
library package module dependency plugin; plugin extension addon integration; framework platform toolkit;
integrate connect hook link integration connection; connect link attach connection; disconnect detach unlink;
register signup enroll subscribe enlist registration; unregister unsubscribe leave;
login signin authenticate logon credential access; logout signout; authenticate authentication login identity verify;
authorize permission access grant privilege right; permission right privilege access role; role permission duty;
password passphrase secret credential passcode; token key credential secret; encrypt cipher encryption scramble;
decrypt decipher decryption; sign signature signing; secure security safe protect protection;
attack threat vulnerability exploit; fraud scam unauthorized suspicious theft; stolen theft lost thief;
hash digest fingerprint checksum; random arbitrary; server backend host; client consumer browser caller;
browser chrome firefox web; endpoint route url api path handler; route path router routing endpoint;
router engine dispatcher; handler callback function listener endpoint controller; middleware interceptor;
request call query ask incoming; incoming inbound received; outgoing outbound sent; response answer reply result;
body payload content data; payload body message content; header headers metadata field; cookie session;
url address link uri location; address location place; path directory folder location; folder directory path;
file document attachment; static asset file; asset file resource static; image picture photo icon;
stream streaming progressive flush chunk; event message notification; sse eventsource event; websocket socket realtime;
notify alert warn notification remind reminder; warn alert warning caution notification; remind reminder notify;
message text mail notification; mail email post letter; html markup page document; template markup layout;
layout template structure frame; render display draw paint; component element widget; element tag node;
style css stylesheet styling; class type; script code program javascript; compile transpile build bundle;
bundle package pack; deploy publish release ship deployment; production live; development dev local;
local offline development; environment env variable; variable binding constant; type typing interface schema;
schema shape structure model definition; shape type structure schema; types typescript typing;
validate validation validator check verify; validator checker validation; format layout form shape; language locale tongue;
locale language region; translate translation localization; date day calendar; time clock hour duration;
timeout deadline limit expire; expire expiry expiration elapse lapse; duration length time period long;
period term duration span interval; schedule plan timetable calendar appointment; recurring periodic repeat regular;
monthly month; annual yearly year; daily day; weekly week; night overnight; cache store memory buffer;
store save keep persist storage hold; save store persist; backup restore recovery; restore recover undo revert;
undo revert reverse rollback; database db sql table; table sheet grid; column field attribute; record row entry item;
key id identifier; id identifier identity; unique distinct; counter count number; number amount quantity count figure;
amount sum quantity total; total sum overall; average mean; size dimension length width; large big huge great;
small little tiny compact; short brief compact; compact small binary minify; binary byte raw;
compress gzip deflate zip compression; inflate decompress uncompress; decompress inflate unzip; encode encoding escape;
decode decoding unescape; escape encode percent; pattern regex expression match; wildcard star asterisk glob;
placeholder parameter param label variable; parameter param argument variable; literal static constant; prefix begin start;
suffix end trailing; substring part slice; character letter char; string text; array list; object entity;
boolean flag true false; loop iterate repeat; async asynchronous promise await; promise async pending await;
pending waiting outstanding open; wait await delay pause; concurrent parallel simultaneous; queue line backlog;
worker thread job; service worker; job task work; task todo job activity; function method procedure routine;
method function verb; call invoke request; inherit extend; interface contract api; api interface endpoint;
test testing spec; mock fake stub; debug troubleshoot diagnose; log logging trace record;
monitor watch observe track supervise; track trace follow monitor; metrics statistics stats figures;
report summary statement; performance speed efficiency; optimize improve tune; improve enhance better upgrade;
upgrade improve update migrate; downgrade reduce; version release edition; standard norm specification spec;
specification standard spec rfc; compatible interoperable support; support supported handle; cloud hosting provider;
amazon aws lambda; google gcp cloud; microsoft azure; cloudflare worker workers; container docker image; edge cdn;
proxy gateway forward; gateway proxy; balancer load; network internet connection; domain hostname host; ip address subnet;
origin domain source cors; cross origin cors; preflight cors options; redirect forward; certificate cert tls ssl;
jwt token bearer; jwk jwks key; bearer token auth; basic auth; algorithm method alg; symmetric secret;
asymmetric public private keypair; recipient receiver addressee; sender originator; critical crit important;
important essential vital critical crucial; priority precedence importance; quality grade rating; media mime content;
mime media type; accept negotiate; client customer user; money fund funds cash balance; cash money withdrawal atm;
atm cash machine; account profile; balance amount funds; pay payment settle charge; payment pay transaction charge;
settle pay repay payoff; repay repayment payback installment; installment instalment payment; installment instalment;
charge fee cost price bill; fee charge cost price; cost price fee expense charge; price cost rate;
free complimentary gratis waive waived; penalty fine fee; fine penalty; bill invoice statement; invoice bill;
receipt proof; refund reimbursement reimburse repay credit return; reimburse refund reimbursement;
rebate discount cashback; cashback reward rewards cash; reward bonus cashback points rewards incentive; bonus reward;
discount reduction deal offer saving; offer promotion deal; rate percentage interest percent apr apy;
interest rate yield apy; yield return interest; loan credit borrow lending mortgage lend; borrow loan; lend loan;
mortgage loan home; debt owe liability; owe debt; overdraft overdraw overdrawn negative; overdraw overdraft;
deposit paycheck credit payin; withdraw withdrawal cash; withdrawal withdraw; transfer wire send ach; wire transfer;
ach transfer electronic; electronic digital online; digital electronic online; online internet web digital;
paper document form; papers documents documentation paperwork; document paperwork file;
wage salary pay paycheck income earnings payroll; salary wage payroll; payroll salary; income earnings revenue;
earnings income profit; profit gain; tax irs taxes taxable; irs tax; budget spending plan; spend spending purchase expense;
spending expense purchase; expense cost spending expenditure; purchase buy order transaction; buy purchase acquire shop;
sell sale vendor; sale sell discount; shop store merchant retailer; merchant retailer seller vendor store; supplier vendor;
vendor supplier seller merchant; customer client user consumer; card credit debit; credit loan; debit card;
coin currency crypto cryptocurrency; bitcoin crypto cryptocurrency; crypto cryptocurrency bitcoin;
currency euro pound dollar money foreign; foreign international abroad overseas;
abroad overseas international foreign travel; international foreign global abroad; travel trip journey tour;
trip travel journey; holiday vacation travel trip; vacation holiday; flight airline plane; airline flight;
airport flight lounge; hotel lodging accommodation; luggage baggage bag; rental hire rent lease; rent lease rental;
car vehicle auto automobile; vehicle car truck fleet; truck vehicle fleet lorry; driver fleet; fuel gas petrol gasoline;
petrol gas fuel gasoline; gas fuel station; station pump; bicycle bike cycling; bike bicycle; transit transport bus train;
transport transportation transit; green eco sustainable environment environmental; eco sustainable green;
sustainable eco green environmental; insurance coverage insured cover protection; cover coverage insurance include;
coverage cover insurance; claim request file; dispute contest challenge complaint; complaint complain dispute feedback;
chargeback dispute; ill sick illness medical health; sick ill illness; illness disease sick medical;
medical health healthcare doctor medicine; medicine drug prescription medication pharmacy;
prescription medicine pharmacy drug; doctor physician; pharmacy drugstore medicine; emergency urgent;
urgent emergency expedited rush; expedite rush express fast urgent; express expedited overnight rush;
overnight expedited express rush; shipping delivery mailing shipment; delivery shipping shipment ship; deliver ship;
arrive arrival come; replace replacement; replacement replace new reissue; lost missing misplaced;
retire retirement pension; pension retirement retiree pensioner; pensioner senior retiree elderly;
senior elderly older retiree; elder senior elderly; old aged senior; child kid minor teen daughter son; kid child;
teen teenager minor youth; minor underage teen child; daughter child son; son child daughter;
parent guardian mother father; guardian parent; family relative household; spouse husband wife partner;
student college pupil; school college university education; teen young youth student; age old; adult grown;
allowance pocket money; pocket allowance; employee staff worker personnel; worker employee labor;
staff employee personnel team; employer company firm; boss manager supervisor; manager supervisor administrator;
administrator admin manager; admin administrator; colleague coworker;
company business firm corporation enterprise organization; business company firm commercial;
enterprise business corporate company; corporate company business; firm company; owner holder proprietor; holder owner;
partner associate; finance financial accounting; accountant accounting bookkeeper; auditor audit review;
audit auditor review log; review audit assessment evaluation; evaluate assess review; approve approval authorize accept;
approval authorization consent approve; consent agree permission; agree accept consent; agreement contract terms;
contract agreement terms; terms conditions policy; policy rule terms; rule policy regulation; law legal statute; legal law;
will estate inheritance; estate inheritance will; heir beneficiary inheritance; beneficiary heir recipient;
eligible qualify eligibility entitled; qualify eligible; apply application request; application apply form;
application app program software; app application; apply submit; request apply ask; ask request inquire;
question inquiry query; contact reach phone; phone telephone mobile call; telephone phone; mobile phone smartphone;
call phone ring; representative agent advisor manager; advisor adviser consultant counselor; agent representative;
person people human individual; human person agent; team group department; member participant; invite invitation;
block ban restrict; unblock restore allow; ban block; friend contact; photo picture camera image; camera photo scan;
scan scanner camera read; recognize recognise detect identify; identify recognize detect identity;
identity id identification; qr square barcode; barcode qr; code qr; screen display monitor; button click press;
click press tap; tap touch click; device phone computer hardware; computer device machine pc; machine computer device;
software program application app; sync synchronize; import upload load; upload import; download export save;
export download; attach upload; link url; website site web page; page site; content text material;
title heading headline name; heading title; name title; label tag name; comment note remark; note comment memo;
color colour; colour color; draw paint; picture image; sound audio; video movie; link hyperlink; eligible entitled;
benefit perk advantage; perk benefit reward; advantage benefit pro; feature function capability; feature benefit;
drawback disadvantage con; trial test; subscription plan membership; membership subscription member; plan scheme program;
program plan scheme; tier level grade; level tier; upgrade switch change; switch change convert toggle;
convert switch change; transition switch convert move; credit score; score rating credit; hurt affect impact harm damage;
affect impact influence; impact affect effect; harm damage; damage harm broken; ready prepared available;
available ready accessible; unavailable down outage; outage down; deny decline; say tell state; why reason cause;
reason cause why; cause reason; happen occur; occur happen; mean signify; differ different difference;
different distinct other; align match synchronize; match correspond fit; fit match suit; suit fit; similar alike like;
like similar; respect obey honor; obey respect; consume use read; consumed used read; produce yield; supply provide;
provide supply offer give; give provide grant; take accept receive; accept take receive; bring fetch; carry transport;
answer respond reply; reply respond answer; respond reply answer; attempt try; try attempt; tried attempt; collect gather;
gather collect; hold keep; keep retain store maintain; retain keep; maintain keep; forward pass; pass hand; drop discard;
read parse; write output; output print result; print output log; input entry form; form input; fill complete; draft write;
compose assemble build; assemble compose build; put place; place put location; position place; reach access; access reach;
learn know discover; know learn understand; understand know; tell inform; inform notify; announce notify; warn notify;
teach train; enough sufficient; sufficient enough; insufficient low; low insufficient; high large; top best highest;
best optimal top; worst lowest; only sole; sole only; main primary principal; primary main; secondary second backup;
second secondary; alternative other option fallback; fallback backup alternative default; instead alternative;
substitute fallback replacement; backup fallback; catch handle; bound boundary; boundary limit; outside external;
external outside third; inside internal within; internal inside; private internal; public open; hidden private;
visible shown; visitor user guest; guest visitor; user person customer; author writer creator; creator author; reader user;
group set; set group; collection set list; sequence order series; series sequence; next following; following next;
first initial; last final; final last; final end; age lifetime; lifetime ttl expiry; ttl lifetime expiry;
abandon drop leave cancel; absent missing unavailable vacation; accelerate speed; accident crash incident;
account user profile; achieve reach; acquire obtain purchase; actual real; adapt adjust customize; adequate sufficient;
adjacent next neighbor; administer manage; advance early prepay; advertise promote ad marketing;
ad advertisement advertising; aggregate sum combine group; alarm alert; alias name synonym; allocate assign reserve;
alone single individual; amend correct; annotate comment label; annoy bother; anonymous unknown guest; anticipate expect;
apartment flat home; appear show; append add concat; appoint assign; approximate estimate rough; archive zip store history;
argue dispute; assemble collect; assign allocate delegate; assure guarantee; attend join; auction bid; authentic genuine;
bake build; balance remainder; bankrupt insolvent; bar forbid; batch bulk group; bulk batch mass; behave act; belong own;
beverage drink; birthday birth date; bit flag; boot start; border edge; branch location office; bridge adapter;
browse view; bucket storage container; burst spike; callback hook webhook; webhook callback notification hook;
capacity limit size; capture record; caption title subtitle; careful cautious; cash currency; catalog list directory;
celebrate party; chain link sequence; chat conversation message; conversation chat dialog thread;
dialog modal window popup; cheap inexpensive low; checkout payment; circular cyclic loop; cite quote reference;
reference cite link mention; mention reference name; clean sanitize clear; sanitize clean escape strip;
strip remove trim cut; trim strip cut; clock time; clothes clothing apparel; cluster group node; coach train;
coerce cast convert; collaborate share; collide conflict clash; conflict clash collision; comfortable easy; commute travel;
companion partner; compensate reimburse pay; compete rival; competitor rival; compile build; complex complicated;
complicated complex difficult; difficult hard; hard difficult; easy simple; simple easy plain; plain simple raw;
comply conform obey; conform comply match; conceal hide; concept idea; idea concept; condition requirement state;
requirement condition prerequisite need; prerequisite requirement; confidential private secret; confuse mix;
consecutive successive; consult ask; contain include hold; include contain embed; continuous ongoing; ongoing current;
contrast difference; convenient easy; cooperate collaborate; couple pair; courier delivery; crash abort failure;
credential login password; crowd many; cure treat; treat handle; curious unusual; unusual strange odd; cycle loop;
dangerous unsafe risky; unsafe insecure dangerous; risk danger; deadline timeout due; due owed deadline;
decimal fraction number; decorate style; decorator annotation wrapper; wrapper wrap adapter; wrap enclose surround;
surround wrap; dedicate reserve; default fallback; defect bug; defer postpone delay; postpone defer delay reschedule;
reschedule postpone; degree level; delegate assign proxy; demand require; depart leave; depend rely require;
deprecated obsolete old; obsolete deprecated outdated; outdated stale old; stale outdated expired; derive inherit;
design layout plan; destination target; target destination goal; goal target objective purpose; purpose goal use;
destroy delete; detail information; information details data info; info information; diagram chart picture; dictionary map;
die exit crash; exit quit leave; digit number; dimension size; dinner meal; diploma degree certificate; direct straight;
discard drop; discover find detect; discuss talk; distinct unique; distribute spread deploy; document page;
donate give charity; charity donation nonprofit; double twice; twice double duplicate; doubt uncertain; draft sketch;
drink beverage; drive disk; disk storage drive file; duplicate repeated twice double; duty obligation; dynamic runtime;
runtime execution environment; echo repeat; edit modify; educate teach; eject remove; elapsed duration; elect choose;
eliminate remove; emergency crisis; employ hire use; hire employ recruit; recruit hire; encounter meet; encourage promote;
enforce apply; engine motor runtime; enrich extend; entertain amuse entertainment; entertainment movie music theater;
entrance entry door; enumerate list; envelope wrapper; equal equivalent; equipment gear tool; erase wipe; wipe erase clear;
escape quote; essential key; establish create; estate property; evaluate compute; event occasion; exact precise accurate;
precise exact; accurate correct; correct right valid; valid legal correct; invalid wrong malformed illegal;
malformed invalid broken; illegal invalid forbidden; excellent best; exceed surpass over limit; exceeded over limit;
exceptional special; special particular; excerpt snippet; snippet example code; exclusive only; excuse reason;
exempt waive; waive exempt skip; exist present; expand open grow; expect assume; expert specialist; specialist expert;
expose publish; express state; extract parse take; extreme maximum; facility feature; factory creator;
fake mock dummy false; dummy mock placeholder; placeholder dummy fallback; familiar known; famous popular;
farm agriculture; fault error; favor prefer; favorite preferred; feed stream; fetch load; fiber network; fill populate;
populate fill; finalize complete; fit suitable; fix patch; patch fix update; flat level; flexible adaptable; flight travel;
float decimal; flow process; fold collapse; collapse fold; food grocery groceries meal restaurant;
grocery supermarket food; supermarket grocery; foreign external; forget lose; forgot lost reset; reset restore clear;
form application; fortune wealth; wealth rich assets; asset property; fraction part; fragile brittle;
frequent often common; often frequent; common usual shared; usual normal typical; normal regular standard;
regular normal periodic; freeze lock; fresh new; front start; frozen locked; fulfill meet complete; fun play;
furniture home; future upcoming; general common; generic general template; genuine real; gift present; globe world;
grace tolerance; graph chart; greet welcome; guard protect; guess estimate; gym fitness sport; habit routine; halt stop;
handle process; process handle run; hang freeze; happy satisfied; healthy alive; alive live health; heavy large; hint tip;
hop step; household home; huge large; humidity weather; hurry urgent; ideal best; idle inactive unused;
inactive idle dormant unused; dormant inactive; ignore skip; imitate mimic emulate; emulate simulate;
simulate emulate mock; immutable readonly constant; implement build; imply mean; import load; incomplete partial;
partial incomplete part; incorrect wrong; wrong incorrect invalid; independent separate; separate split independent;
indicate show; individual personal; personal private own; inexpensive cheap; infinite endless unlimited;
unlimited infinite; inject insert; inner internal; innocent harmless; inquire ask; instance object; instruct tell;
instruction command direction; intention purpose; intercept catch middleware; intermediate middle; interpret parse;
interrupt abort break; interval period; introduce add; invalidate expire; invent create; invest investment stock;
investment portfolio stock savings; savings deposit; stock share; involve include; isolate separate sandbox;
sandbox isolate; item entry; job position; join merge; journal log; journey trip; judge decide; jump skip; kitchen cooking;
label name; landlord rent; language locale; laptop computer; latency delay; launch start; layer level; lead cause;
leak expose; leave exit; lecture lesson; legacy old; lesson course; letter mail; license permit; lifecycle stage;
light small; likely probable; link reference; listen subscribe; listener handler; little small; local nearby; lock block;
logical boolean; long large; loose weak; loss lose; lunch meal restaurant; luxury premium; premium paid luxury;
magnitude size; mandatory required; manner way; manufacture produce; margin border; mark flag; massive large; master main;
maximum limit; measure metric; mechanism method; medium media; meet join; mention say; menu list; mild light; minute time;
mirror copy; mix combine; moderate medium; modest small; mood feeling; motor engine; mount attach; mutate change;
mutation change; mutual common; narrow restrict; native builtin; builtin native bundled internal; bundled builtin;
neat clean; negative below; negotiate agree; neighbor adjacent; nickname alias; noise disturb; normalize canonical;
canonical normalized standard; notice notification; novice beginner; beginner newcomer start; numerous many;
nutrition food; observe watch; obtain get; obvious clear; occasion event; occupation job; occupy use; offline disconnected;
old previous; opposite reverse; reverse invert opposite; invert reverse; ordinary normal; organize arrange; origin source;
original first; outer external; outline summary; output result; override replace overwrite; overwrite override replace;
overview summary; package parcel; paginate page pagination; pagination page; panic crash; parking park; passenger traveler;
passive idle; patient medical; peak maximum; people persons; perfect ideal; perform execute; permit allow; persist keep;
pick choose; pipe stream; plug connect; plugin extension; point location; polite courteous; popular common;
portable mobile; portion part; possible available; post publish; potential possible; power energy;
energy electricity power; electricity power utility; utility electricity water; practice exercise; precaution safety;
safety security; preload prefetch; prefetch preload; prepare setup; preserve keep; press push; prevent avoid;
primitive basic; basic simple; principle rule; print display; privacy data; prize award; award reward prize; probe check;
procedure process; profession job; profile account; promise guarantee; prompt ask; proof evidence; propagate forward;
proper correct; property attribute; attribute property field; propose suggest; suggest recommend propose; prove show;
publish release; pull fetch; pure plain; push send; query search; quiet silent; silent quiet; quit leave; quote cite;
raise increase; range interval; rapid fast; rare uncommon; raw unprocessed; react respond; readable legible;
readonly immutable; real actual; realtime live; rebuild recreate; recreate rebuild; recall remember; remember store;
recent new; recipe instructions; reconnect resume; recover restore; rectify correct; recursive nested; redeem use;
reduce decrease; redundant duplicate; refer reference; refine improve; refresh reload update; reload refresh; region area;
area region zone; zone area region; regret sorry; regulation rule; relate connect; relation relationship;
relationship relation; relative family; relax rest; release publish; relevant related; reliable stable; stable reliable;
remain stay; remaining left; remote distant; render draw; renew extend; renewal renew extension; rent lease; reorder sort;
repair fix; repeat again; reply answer; repository repo; represent stand; reproduce repeat; reputation rating; rescue save;
research study; resemble like; reserve book; residence address; resident citizen; resign quit; resize scale;
scale resize grow; resolve lookup; lookup find resolve; resource file; restrict limit; result outcome; outcome result;
resume continue; retail store; retry repeat; return back; reveal show; revenue income; revise edit; revoke remove withdraw;
ride transport; rideshare taxi uber; taxi cab ride; rigid strict; strict rigid exact; ring call; rollback revert;
room space; root base; base root basis; rotate cycle; rough approximate; round approximate; rough estimate;
routine procedure; run execute; rural country; sample example; satisfy meet; schema definition; scope range; score rating;
search find; seat place; section part; seek find; segment part; seldom rare; select choose; sensitive private secret;
serialize encode stringify; stringify serialize; deserialize parse decode; serve deliver provide; session login;
setting option; severe serious; shade color; shadow hide; share split; shell terminal; shield protect; shift move;
shortage lack; lack missing; shortcut hotkey; show display; shuffle random; sibling neighbor; signal abort event;
significant important; similar like; simultaneous concurrent; skeleton template; skip ignore; slot place; snapshot copy;
software app; solution answer; solve fix; sort order; source origin; spam junk; spawn create start; specific particular;
particular specific; split divide; spouse family; spread distribute; stack layer; stage step; step stage phase;
phase stage; stamp mark; standalone independent; state status; status state condition; static fixed; fixed constant static;
stay remain; stock inventory; inventory stock; stop end; storage store; strategy plan; stream flow; strength power;
stress load; stub mock; style design; submit send; succeed success; success succeed complete; suffix extension ending;
sum total; summary overview; supervise monitor; support help; suppress hide; surcharge fee; survey poll; poll survey check;
suspect doubt; suspend block; sustain keep; swap exchange; symbol sign; sync update; tail end; talk speak; speak talk;
target goal; teach explain; tear down; teardown cleanup dispose; cleanup dispose teardown clear; dispose cleanup release;
telemetry metrics; tenant customer; term condition; terminal console; theater movie; theft stolen; thorough complete;
thread conversation; throttle limit; ticket pass; tidy clean; tie bind; bind attach connect; title name; toggle switch;
tolerate allow; topic subject; subject topic; toy game; trace track; trade exchange; trail path; trailing end;
transaction payment; transparent clear; trash delete; treasury funds; tree hierarchy; hierarchy tree; trick hint;
trigger start; trim cut; trouble problem; truncate cut shorten; shorten truncate; trust rely; tuition education;
tunnel proxy; twin pair; unify merge; uninstall remove; university education; unlock open; unsubscribe cancel;
untrusted unsafe; upcoming next; upload send; urgent immediate; usage use consumption; use apply; utilize use;
vacant empty; vague unclear; variant version; variety kind; vary change; vendor supplier; verbose detailed;
version revision; revision version; veteran military; military veteran army; victim fraud; visit open; visual graphical;
void empty; volume amount; volunteer charity; vote poll; wait delay; walk traverse; traverse walk visit; warehouse storage;
warranty guarantee; watch observe; weak loose; wealth money; weather climate; website page; wedding marriage;
marriage spouse; weigh weight; welcome greet; wide broad; broad wide; wife spouse; window screen; wise smart;
withdraw cash; witness evidence; workflow process; worldwide global; worth value; value amount; wrap cover; write compose;
yearly annual
`.trim();

/** Two or three words that mean what one word says: `sign in = login`. */
export const phraseSynonyms = `
sign in = login
sign up = register
log in = login
log out = logout
set up = setup configure
hook up = connect integrate
get rid = remove
give up = abort timeout
give back = refund reimburse
take away = revoke remove
take over = assume
shut out = block
shut down = stop close
turn on = enable
turn off = disable
switch on = enable
switch off = disable
show up = arrive appear
run out = expire insufficient
run empty = low
fill up = refuel
fill in = complete
look up = find
put together = build join concatenate
cut off = strip remove
leave out = omit skip exclude disable
fall back = fallback
find out = learn detect
say no = decline deny reject
carry out = perform
go wrong = error fail
break down = fail
back up = backup
roll back = rollback undo
hand over = pass transfer
pass on = forward
work out = calculate
figure out = determine
pick up = collect
keep track = track
piece by piece = stream chunk
at once = parallel simultaneous
ahead of time = early
in advance = early prepay
side by side = multiple simultaneous
on behalf = delegate
load balancer = alb elb
front end = client ui
back end = server
key value = kv
identity provider = oidc jwks
service worker = serviceworker
time limit = timeout
phone number = telephone
credit line = limit
interest rate = apr apy
command line = cli
`.trim();
