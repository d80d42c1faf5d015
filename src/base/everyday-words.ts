/** Common words. A secret with such a value is not masked, because ordinary texts would become unreadable. */

const words = `
able about above accept access account accounts across action actions active activity actor actual added address
addresses admin administrator after again against agent agents alert alias allow allowed alpha already also
alternative always amount analysis analytics android angular anonymous another answer answers apache apple
application applications apply april archive area argument arguments around array article artifact ascii assert
asset assets assign assistant async attach attempt attribute audio audit august auth author authorization auto
automatic available avatar await azure back backend background backup balance bank base bash basic batch bearer
because become been before begin behind being below best beta between binary block blog blue body book bool boolean
boot bootstrap border both bottom bound boundary branch break bridge broken browser bucket budget buffer bugfix
build builder building built bundle business button byte bytes cache call callback called camera cancel cannot
canvas capacity capture card case cast catalog category cause center central certificate chain change changed
changelog changes channel chapter character charge chart chat check checked checkout child children chinese choice
choose chrome chunk city claim class classes clean clear click client clients clipboard clock clone close closed
cloud cluster code coding collection color colour column columns combine come command commands comment comments
commit common community company compare compile complete component components compose computer concurrency condition
config configuration configure confirm connect connection connections console constant constants constructor
consumer contact container containers content contents context continue contract control controller conversation
convert cookie copy core correct cost could count counter country course cover coverage create created creator
credential credentials current cursor custom customer cycle daemon dark dashboard data database dataset date debian
debug december declare default defaults define delay delete deleted deliver demo deny depend dependencies dependency
deploy deployment deprecated depth describe description design desktop detail details detect develop developer
development device devops dialog diff different digest digital direct direction directory disable disabled
disconnect discount display distribution docker document documentation documents does dollar domain done down
download downloads draft draw drive driver drop dummy dump duplicate duration during dynamic each early edit editor
effect either elastic element elements else email emit employee empty enable enabled encode encoding endpoint
endpoints engine english enter enterprise entity entries entry enum environment environments equal error errors
event events ever every example examples except exception exclude execute execution executor exist exists exit
expand expect expected experiment expire expired export exports express expression extend extension external extra
fact factor factory fail failed failure fallback false family fast fatal favorite feature features february feed
fetch field fields file filename files filesystem filter final find fine finish finished firebase firefox firewall
first fixed fixture flag flags flask float flow folder folders font footer force foreign fork form format forward
found frame framework free french friday friend from front frontend full function functions further future game
gateway general generate generated generator generic german gets give given github gitlab global goal going gold
golang good google grant graph graphql gray great green grid group groups guard guest guide hack half handle handler
happy hard hardware hash have head header headers health height hello help helper here hidden high history hold home
hook hooks horizontal host hostname hosting hosts hour hours html http https human icon identifier identity ignore
image images implement import important imports inactive include included index info information ingress init
initial inject inline inner input inputs insert inside install installation installer instance instances instead
integer integration interface internal internet interval into invalid inventory invoice invoke issue issuer issues
item items iterator itself january java javascript jenkins jobs join journal json july june just keep kernel
keyboard keys keyword kind kubernetes label labels lambda language languages large last latency latest laravel layer
layout lead learn least leave left legacy length less letter level levels library license life light like limit
limits line linear lines link links linux list listen listener lists literal little live load loader loading local
locale localhost location lock locked logger logging login logo logout logs long look loop lower machine macos made
mail main maintenance major make makefile manage manager manifest manual many march mark markdown market marketing
mask master match matrix maximum maybe mean measure media medium member members memory mentor menu merge message
messages meta metadata method methods metric metrics microsoft middle middleware migrate migration migrations
milestone mime mind minimum minor minute minutes mirror missing mobile mock mode model models modern modify module
modules monday money mongo mongodb monitor monitoring month more most mount mouse move movie multiple music must
mutable mutation mysql name named names namespace native navigation near need nested network never next nginx night
node nodes nodejs none normal note notes nothing notice notification november null number numbers object objects
observer october office offline offset often once online only open openai opened operation operator option optional
options oracle order orders organization origin original other output outputs outside over overflow override owner
package packages padding page pages pair panel paper parallel parameter parameters parent parse parser part partial
party pass passed passphrase passwd password passwords past paste patch path paths pattern pause payload payment
payments peer pending people percent performance period permission permissions person personal phone photo picture
piece ping pipe pipeline place placeholder plain plan platform play player please plugin plugins point pointer
policy poll pool popular popup port portal position positive possible post postgres postgresql power prefix premium
prepare present preview previous price primary print priority private probe problem process processes processor prod
product production products profile profiles program programs progress project projects promise promote prompt
property proto protocol prototype provide provider providers proxy public publish published publisher pull purchase
purple purpose push python quality quantity query question queue quick quiet quit quota quote rabbitmq rails raise
random range rank rate react read reader reader readme ready real reason receive recent record records recover
redirect redis reduce reference refresh refuse region register registry regular reject relation release releases
reload remote remove removed rename render renderer repeat replace replica reply report reports repository request
requests require required research reserve reset resolve resource resources response responses rest restart restore
result results resume retry return returns reverse review reviewer revision rewrite right role roles rollback room
root round route router routes routing ruby rule rules runner running runtime rust safari safe sale sales same
sample samples sandbox saturday save saved scale scan schedule scheduler schema school scope scopes score screen
screenshot script scripts scroll sdks search season second seconds secret secrets section secure security seed
select selected selection selector self semantic send sender sent separate september sequence serial series serve
server serverless servers service services session sessions setting settings setup several shape share shared shell
shift ship shop short should show shutdown side sign signal signature signed silent similar simple since single site
size skill skills skip slack sleep slice slow small snapshot social socket software solution some something sort
sound source sources space spain spanish special specification speed split spring sprint sqlite stable stack stage
staging standard start started starter startup state statement states static station statistics stats status step
steps still stop storage store stored story stream street strict string strings structure student style styles
subject submit subscribe subscription subset success such suffix suite summary sunday super supplier support sure
swagger swift switch symbol sync syntax system systems table tables tags take target targets task tasks team teams
technical template templates temporary tenant term terminal terms terraform test tester testing tests text than that
their them theme then there these they thing things think third this thread threads through throw thursday ticket
tickets tile time timeout timer times timestamp timezone title today todo together token tokens tomorrow tool tools
topic total touch trace track tracker trade traffic train training transaction transfer transform translate travel
tree trigger true truncate trust tuesday turn tutorial type types typescript typing ubuntu undefined under undo
unicode unique unit units universal unix unknown unlock until update updated updates upgrade upload upper usage used
user username users using utils valid validate validation validator value values variable variables vector vendor
verbose verify version versions vertical very video view viewer views virtual visible visit voice volume volumes
vuejs wait waiting walk wallet want warn warning watch weather webhook webpack website wednesday week weight welcome
well went were what when where which while white whole wide widget width wiki wildcard will window windows wireless
with within without word words work worker workers workflow working workspace workspaces world would wrap wrapper
write writer written wrong yaml yarn year years yellow yesterday your yourself zero zone zones
`

const commonWords: ReadonlySet<string> = new Set(words.trim().split(/\s+/))

/** True for a listed word, in any case of letters. */
export function isCommonWord(word: string): boolean {
  return commonWords.has(word.toLowerCase())
}
