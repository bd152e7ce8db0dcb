// The small sample: a list of items, by external id, of each kind and collection. All others are in the large one only.
// Each is listed with its name, so that the list can be read and is checked.

const GEOZONES = {
  countries: {
    "010": "Antarctica",
    "032": "Argentina",
    "036": "Australia",
    "076": "Brazil",
    124: "Canada",
    156: "China",
    818: "Egypt",
    242: "Fiji",
    250: "France",
    276: "Germany",
    352: "Iceland",
    356: "India",
    380: "Italy",
    392: "Japan",
    404: "Kenya",
    484: "Mexico",
    554: "New Zealand",
    578: "Norway",
    643: "Russia",
    710: "South Africa",
    724: "Spain",
    826: "United Kingdom",
    840: "United States of America",
    336: "Vatican",
  },
  us_states: {
    "06": "California",
    "08": "Colorado",
    10: "Delaware",
    17: "Illinois",
    49: "Utah",
    56: "Wyoming",
  },
};

// All counties of Wyoming.
const COUNTIES_OF = "56";

const FACILITIES = {
  us_states: {
    "capitol:California": "Capitol of California, Sacramento",
    "capitol:Colorado": "Capitol of Colorado, Denver",
    "capitol:Delaware": "Capitol of Delaware, Dover",
    "capitol:Illinois": "Capitol of Illinois, Springfield",
    "capitol:Utah": "Capitol of Utah, Salt Lake City",
    "capitol:Wyoming": "Capitol of Wyoming, Cheyenne",
  },
  us_west_airports: {
    U36: "Aberdeen Municipal",
    CPR: "Natrona County Intl",
    COD: "Yellowstone Regional",
    CYS: "Cheyenne",
    GCC: "Gillette-Campbell County",
    JAC: "Jackson Hole",
    LAR: "Laramie Regional",
    LND: "Hunt",
    RIW: "Riverton Regional",
    RKS: "Rock Springs-Sweetwater County",
    SHR: "Sheridan County",
    THP: "Hot Springs County-Thermopolis Municipal",
    WRL: "Worland Muni",
    MMH: "Mammoth Yosemite",
    DEN: "Denver Intl",
    HNL: "Honolulu International",
    LAX: "Los Angeles International",
    SEA: "Seattle-Tacoma Intl",
    SFO: "San Francisco International",
    SLC: "Salt Lake City Intl",
    LHD: "Lake Hood SPB",
    A29: "Sitka SPB",
    "7K2": "Skagway SPB",
    "61J": "Portland Downtown Heliport",
  },
  iceland_waters: {
    "iceaddr:198701": "Seljalandsfoss",
    "iceaddr:198714": "Dettifoss",
    "iceaddr:198715": "Hafragilsfoss",
    "iceaddr:198717": "Aldeyjarfoss",
    "iceaddr:29276": "Hraunfossar",
    "iceaddr:42533": "Deildartunguhver",
    "iceaddr:20065": "Snorralaug",
    "iceaddr:194856": "Hrunalaug",
  },
  iceland_land: {
    "iceaddr:42468": "Vatnajökull",
    "iceaddr:33081": "Langjökull",
    "iceaddr:52044": "Snæfellsjökull",
    "iceaddr:9685": "Mýrdalsjökull",
    "iceaddr:13237": "Eyjafjallajökull",
    "iceaddr:52089": "Drangajökull",
    "iceaddr:127324": "Stefánshellir",
    "iceaddr:61628": "Lakagígar",
    "iceaddr:84199": "Sundhnúksgígar",
    "iceaddr:1058": "Sjónarhóll",
    "iceaddr:17848": "Guttormslundur",
  },
  iceland_travel: {
    // Each of the two has a product with its dates.
    "iceaddr:98418": "Tjaldstæði",
    "iceaddr:127467": "Tangatjaldstaður",
    "iceaddr:25812": "Kvennastígur",
    "iceaddr:103994": "Ræningjastígur",
    "iceaddr:67022": "Þorsteinsskáli",
    "iceaddr:47277": "Leirskáli",
    "iceaddr:10554": "Reykjavíkurhöfn",
    "iceaddr:10546": "Landeyjahöfn",
    "iceaddr:10184": "Hornafjarðarhöfn",
    "iceaddr:3886": "Þórshöfn",
    "iceaddr:120": "Akureyrarflugvöllur",
    "iceaddr:124": "Keflavíkurflugvöllur",
    "iceaddr:125": "Reykjavíkurflugvöllur",
    "iceaddr:88": "Hvalfjarðargöng",
    "iceaddr:104": "Vaðlaheiðargöng",
    "iceaddr:116499": "Hvítárbrú",
  },
};

/** The geozones of the small sample, and the others. */
export function smallGeozones(zones) {
  const isCounty = ({ collection, externalId }) =>
    collection === "us_counties" && externalId.startsWith(COUNTIES_OF);
  return divide(zones, GEOZONES, isCounty);
}

/** The facilities of the small sample, and the others. */
export function smallFacilities(facilities) {
  return divide(facilities, FACILITIES, () => false);
}

function divide(items, listed, isSmallByRule) {
  const isListed = ({ collection, externalId }) => listed[collection]?.[externalId] !== undefined;
  const found = items.filter(isListed);
  const wrong = found.filter(({ collection, externalId, displayName }) => listed[collection][externalId] !== displayName);
  const expected = Object.values(listed).flatMap(Object.values).length;
  if (wrong.length > 0 || found.length !== expected) {
    const names = wrong.map(({ displayName }) => displayName).join(", ");
    throw new Error(`the small sample lists ${expected} items, ${found.length} of them exist; other names: ${names}`);
  }
  const isSmall = (item) => isListed(item) || isSmallByRule(item);
  return { small: items.filter(isSmall), world: items.filter((item) => !isSmall(item)) };
}
