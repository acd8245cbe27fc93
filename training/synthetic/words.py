"""Word lists of the synthetic material (our own)."""

NOUNS = (
    "account address agenda agreement album alarm alert appointment archive article asset attendance auction "
    "audit badge balance ballot bank bill bond book booking branch bridge broadcast budget building bus cabin "
    "calendar camera campaign candidate card cargo case catalog certificate channel chapter charge chart chat "
    "check claim class clinic club coach code collection comment commission community company concert conference "
    "contact contract coupon course credit crew currency customer data deal debt delivery deposit device diagnosis "
    "diet discount doctor document donation draft driver drone dose employee engine entry episode equipment error "
    "event exam exchange exercise exhibit expense experiment factory farm fee feedback field file film flight "
    "folder forecast form formula forum fridge fund gallery game garage garden gate gift goal grade grant group "
    "guest guide habit harvest hotel house image income index inspection insurance interview inventory invoice "
    "item job journal journey keyword label lamp language lease lecture lesson letter library license light link "
    "loan location lock lottery luggage machine magazine mail map market match meal medicine meeting member memo "
    "menu message meter mission model mortgage movie museum network news note notice number offer office order "
    "package page painting parcel parking partner password patient payment payroll pension permit person pet "
    "phone photo plan plant playlist podcast point policy poll port portfolio post prescription price printer "
    "problem product profile project property quota quote race rate rating receipt recipe record refund region "
    "reminder rental repair report request reservation resource restaurant result resume reward ride road robot "
    "room route rule salary sample scene schedule school score season seat sensor server service session shelter "
    "shift ship shop signal song speaker stage station statement statistic stock store story stream student "
    "subscription supplier survey symptom task tax team template tenant test theater thread ticket time token tool "
    "topic tour tournament trade trail train training transaction transcript translation trip truck user vaccine "
    "vehicle venue version video visa visit volunteer voucher wallet warehouse warranty weather website wedding "
    "wiki workout zone"
).split()

MODIFIERS = (
    "active annual available basic business city current custom daily default digital direct emergency family "
    "fast final first foreign free full global group health historical home hourly last latest local main medical "
    "monthly new next nearby online open personal premium private public quick recent remote school seasonal "
    "secure shared short similar smart special sports student total travel upcoming urban user weekly work yearly"
).split()

SUFFIXES = "Info Status Details History List By Id Records Today Summary Item Entry Data Service Tool".split()

FIRST_NAMES = (
    "John Jane Michael Emily David Sarah James Anna Robert Laura Peter Maria Thomas Julia Daniel Sophie Mark Alice "
    "Kevin Nora Paul Emma Steven Grace Brian Olivia George Chloe Edward Hannah Ryan Lucy Eric Megan Adam Zoe Frank "
    "Wei Ling Hiroshi Yuki Ahmed Fatima Carlos Lucia Ivan Olga Pierre Amelie Hans Greta Raj Priya Omar Leila Kofi "
    "Ama Luca Giulia Mateo Elena Bob Tom Bill Ben Sam Max Lily Mia Eva Ruth Jack Harry Oscar Leo Ella Ada Victor Iris"
).split()

LAST_NAMES = (
    "Smith Johnson Brown Miller Davis Wilson Moore Taylor Anderson Jackson White Harris Martin Thompson Garcia Clark "
    "Lewis Lee Walker Hall Young King Wright Scott Green Baker Adams Nelson Carter Mitchell Roberts Turner Phillips "
    "Campbell Parker Evans Edwards Collins Stewart Morris Rogers Reed Cook Morgan Bell Murphy Bailey Cooper Richards "
    "Chen Wang Li Zhang Kim Park Tanaka Sato Singh Patel Khan Ali Lopez Silva Rossi Müller Schmidt Novak Ivanov Doe"
).split()

CITIES = (
    "New York|London|Paris|Berlin|Tokyo|Beijing|Shanghai|Madrid|Rome|Vienna|Prague|Sydney|Melbourne|Toronto|"
    "Vancouver|Chicago|Boston|Seattle|San Francisco|San Diego|Los Angeles|Houston|Dallas|Denver|Miami|Atlanta|"
    "Portland|Austin|Las Vegas|Mexico City|Lima|Bogota|Santiago|Buenos Aires|Sao Paulo|Cairo|Nairobi|Lagos|Cape Town|"
    "Casablanca|Istanbul|Dubai|Mumbai|New Delhi|Bangkok|Singapore|Hanoi|Jakarta|Seoul|Osaka|Kyoto|Manila|Auckland|"
    "Dublin|Edinburgh|Oslo|Stockholm|Helsinki|Copenhagen|Amsterdam|Brussels|Geneva|Zürich|Munich|Hamburg|Lyon|Nice|"
    "Barcelona|Seville|Lisbon|Porto|Athens|Warsaw|Budapest|Kyiv|Hong Kong|Taipei|Shenzhen|Guangzhou|Chengdu|Hangzhou"
).split("|")

US_CITIES = (
    "San Francisco:CA|San Diego:CA|Los Angeles:CA|Sacramento:CA|Oakland:CA|Fresno:CA|New York:NY|Buffalo:NY|Albany:NY|"
    "Boston:MA|Chicago:IL|Seattle:WA|Spokane:WA|Houston:TX|Dallas:TX|Austin:TX|San Antonio:TX|El Paso:TX|Denver:CO|"
    "Boulder:CO|Miami:FL|Orlando:FL|Tampa:FL|Atlanta:GA|Savannah:GA|Portland:OR|Eugene:OR|Las Vegas:NV|Reno:NV|"
    "Phoenix:AZ|Tucson:AZ|Detroit:MI|Philadelphia:PA|Pittsburgh:PA|Cleveland:OH|Columbus:OH|Nashville:TN|Memphis:TN|"
    "New Orleans:LA|Minneapolis:MN|Milwaukee:WI|Kansas City:MO|Salt Lake City:UT|Baltimore:MD|Charlotte:NC|Raleigh:NC"
).split("|")

COUNTRIES = (
    "France:FR|Germany:DE|Spain:ES|Italy:IT|Japan:JP|China:CN|India:IN|Brazil:BR|Canada:CA|Mexico:MX|Australia:AU|"
    "Norway:NO|Sweden:SE|Finland:FI|Poland:PL|Portugal:PT|Greece:GR|Turkey:TR|Egypt:EG|Kenya:KE|Nigeria:NG|Peru:PE|"
    "Chile:CL|Argentina:AR|Ireland:IE|Iceland:IS|Austria:AT|Belgium:BE|Thailand:TH|Vietnam:VN|South Korea:KR|"
    "New Zealand:NZ|South Africa:ZA|Netherlands:NL|Switzerland:CH|Denmark:DK|Hungary:HU|Indonesia:ID|United States:US"
).split("|")

COMPANIES = (
    "Acme|Globex|Initech|Northwind|Contoso|Umbra Systems|Blue Harbor|Silverline|Redwood Partners|Vertex Labs|Orion|"
    "Pinecone Media|Sunrise Foods|Bright Path|Nimbus Air|Ironworks|Cedar Bank|Falcon Motors|Maple Leaf Studio|"
    "Quantum Soft"
).split("|")

DISHES = (
    "pizza|sushi|tacos|burger|ramen|pad thai|lasagna|salad|chicken curry|pancakes|fried rice|tomato soup|"
    "fish and chips|dumplings|kebab|falafel|paella|risotto|apple pie|cheesecake|omelette|noodles|burrito|steak|"
    "beef stew|ice cream"
).split("|")

GENRES = (
    "comedy|drama|horror|action|romance|thriller|documentary|fantasy|animation|mystery|western|musical|jazz|rock|pop|"
    "classical|blues|country|hip hop|folk|techno|reggae|metal|soul|ambient|indie"
).split("|")

LANGUAGES = (
    "English French German Spanish Italian Chinese Japanese Korean Russian Portuguese Arabic Hindi Dutch Swedish "
    "Greek Turkish Polish Vietnamese Thai Hebrew"
).split()

ADJECTIVES = (
    "red blue green quiet bright old modern simple large small warm cold rapid gentle weekly final open secret "
    "golden silver happy brave lazy clever early late lucky heavy light dark sweet bitter sharp smooth famous rare "
    "clean broken hidden empty fresh dry wet narrow wide deep soft hard common strange useful serious quick wild"
).split()

THINGS = (
    "meeting dinner lunch party report plan review call trip walk garden river mountain machine story song game "
    "project budget team client lecture exam workshop birthday wedding holiday visit doctor dentist gym class "
    "coffee tea cake soup pizza salad fish bread bike car train boat phone laptop camera book paper letter window "
    "door house school hospital museum library park beach forest island bridge market office kitchen bedroom lamp "
    "dog cat horse bird flower tree rain snow wind storm sun moon star headache fever cough allergy diabetes stress "
    "history science music art physics chemistry biology medicine law economics climate energy history robot software"
).split()

ACTIONS = (
    "visit buy clean check read write call meet paint fix plan finish start sell move learn teach watch cook bring "
    "pick_up drop_off water feed review prepare send print sign discuss test measure repair order return collect"
).split()

PLACES = (
    "conference room|coffee shop|city hall|central park|main office|meeting room|town square|train station|"
    "sports center|public library|second floor|north gate|old harbor|lake house|science museum|shopping mall|"
    "community center|bus terminal|airport|cafeteria|lobby|rooftop bar|art gallery|training hall|headquarters|gym"
).split("|")

VERB_GROUPS: tuple[tuple[str, ...], ...] = tuple(
    tuple(group.split())
    for group in (
        "book reserve schedule arrange",
        "create add make register set_up open new",
        "get fetch retrieve show look_up view read",
        "search find query look_for discover",
        "list show_all enumerate get_all",
        "delete remove erase clear drop",
        "cancel call_off abort",
        "update modify change edit adjust",
        "send deliver dispatch forward",
        "share post publish",
        "check verify validate inspect",
        "calculate compute work_out determine",
        "convert transform turn",
        "estimate predict forecast",
        "translate interpret",
        "compare contrast",
        "buy purchase order",
        "pay settle",
        "sell trade",
        "rent hire lease",
        "play start run launch",
        "stop pause halt end",
        "track follow monitor watch",
        "recommend suggest propose",
        "rate review score",
        "record log save store",
        "upload import attach",
        "download export",
        "assign allocate give",
        "move transfer relocate",
        "enable turn_on activate switch_on",
        "disable turn_off deactivate switch_off",
        "lock block",
        "unlock release",
        "approve accept confirm",
        "reject decline refuse",
        "analyze examine evaluate study",
        "summarize condense",
        "sort rank arrange_by",
        "filter narrow_down select",
        "generate produce build",
        "print display",
        "remind alert notify",
        "invite ask_to_join",
        "join enter sign_up_for",
        "leave quit exit",
        "repair fix",
        "return give_back refund",
        "measure count",
        "solve resolve",
    )
)
"""Verbs that mean nearly the same. The first two of a group name most tools; users say any of them."""

NOUN_SYNONYMS: dict[str, tuple[str, ...]] = {
    "account": ("profile", "user account"),
    "appointment": ("visit", "consultation"),
    "bill": ("invoice", "charges"),
    "bus": ("coach",),
    "company": ("firm", "business"),
    "customer": ("client", "buyer"),
    "delivery": ("shipment", "parcel"),
    "device": ("gadget", "machine"),
    "doctor": ("physician",),
    "document": ("paper", "file"),
    "employee": ("worker", "staff member"),
    "error": ("mistake", "fault"),
    "event": ("happening", "occasion"),
    "exam": ("test",),
    "fee": ("charge", "cost"),
    "film": ("movie",),
    "flight": ("plane", "plane ticket"),
    "forecast": ("outlook", "prediction"),
    "gift": ("present",),
    "hotel": ("place to stay", "accommodation"),
    "house": ("home",),
    "image": ("picture", "photo"),
    "job": ("position", "work"),
    "journey": ("trip", "travel"),
    "loan": ("credit",),
    "location": ("place", "spot"),
    "mail": ("letter", "email"),
    "meal": ("food", "dinner"),
    "medicine": ("drug", "medication"),
    "meeting": ("get-together", "session"),
    "member": ("participant",),
    "message": ("text", "note"),
    "movie": ("film",),
    "note": ("memo",),
    "order": ("purchase",),
    "payment": ("transaction",),
    "phone": ("mobile",),
    "photo": ("picture", "image"),
    "price": ("cost", "rate"),
    "product": ("item", "article"),
    "property": ("house", "real estate"),
    "reservation": ("booking",),
    "restaurant": ("place to eat", "diner"),
    "reminder": ("alert", "note"),
    "ride": ("cab", "taxi"),
    "room": ("place",),
    "route": ("way", "directions"),
    "salary": ("pay", "wage"),
    "school": ("college",),
    "song": ("track", "tune"),
    "stock": ("share", "shares"),
    "store": ("shop",),
    "task": ("to-do", "job"),
    "ticket": ("admission",),
    "train": ("rail",),
    "vehicle": ("car",),
    "weather": ("weather conditions", "temperature"),
    "website": ("page", "site"),
}
"""Noun -> other words that users say for it."""

NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()

FOREIGN = (
    "东京|北京|上海|你好|天气|会议|数据|こんにちは|メモ|서울|안녕하세요|привет|Москва|école|señor|São Paulo|Zürich|"
    "Köln|Málaga|niño|über|naïve|café au lait|crème brûlée|smörgåsbord|piñata|fête|Łódź|Kraków|Đà Nẵng|İzmir|Αθήνα"
).split("|")
