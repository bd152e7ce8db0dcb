// Facilities of Iceland: place names of IS 50V, typed by what the name itself says.
//
// Icelandic names are compounds that end in what the place is: Svartifoss is the black *foss*, a
// waterfall. IS 50V adds a class (on land, in fresh water, in the sea, of ice). A kind below is
// one of the classes and an ending; a place is of the first kind that fits, and of none otherwise.
import { wheelDatabase } from "./packages.mjs";

const LAND = "Landörnefni";
const WATER = "Vatnaörnefni";
const SEA = "Sjávarörnefni";
const ICE = "Jökla- og snævarörnefni";

// collection, facilityType, subType, words to search it by, classes, endings
const KINDS = [
  ["iceland_waters", "dayUseArea", "bathingPlace", "bathing place", [WATER, LAND], ["sundlaug", "baðlaug", "baðlaugar", "baðhús", "sundpollur"]],
  ["iceland_waters", "naturalFeature", "waterfall", "waterfall", [WATER], ["foss", "fossar"]],
  ["iceland_waters", "naturalFeature", "hotSpring", "hot spring", [WATER], ["laug", "laugar", "hver", "hverir"]],
  ["iceland_land", "naturalFeature", "glacier", "glacier", [ICE], ["jökull"]],
  ["iceland_land", "naturalFeature", "cave", "cave", [LAND], ["hellir", "hellar"]],
  ["iceland_land", "naturalFeature", "crater", "crater", [LAND], ["gígur", "gígar"]],
  ["iceland_land", "viewpoint", "lookout", "lookout", [LAND], ["sjónarhóll", "sjónarhæð"]],
  ["iceland_land", "dayUseArea", "grove", "grove", [LAND], ["lundur"]],
  ["iceland_travel", "campground", "tentSite", "tent site", [LAND], ["tjaldstæði", "tjaldstaður"]],
  ["iceland_travel", "trail", "route", "route", [LAND], ["leið", "stígur", "slóð"]],
  ["iceland_travel", "accessPoint", "ferryPlace", "ferry place", [LAND, WATER], ["ferjustaður", "ferja"]],
  ["iceland_travel", "accessPoint", "landingPlace", "landing place", [LAND, WATER, SEA], ["lending", "bryggja"]],
  ["iceland_travel", "accessPoint", "harbour", "harbour", [LAND, WATER, SEA], ["höfn"]],
  ["iceland_travel", "accessPoint", "airport", "airport", ["Flugvöllur"], ["flugvöllur"]],
  ["iceland_travel", "structure", "hut", "hut", [LAND], ["skáli", "sæluhús"]],
  ["iceland_travel", "structure", "bridge", "bridge", [LAND], ["brú"]],
  ["iceland_travel", "structure", "tunnel", "tunnel", ["Jarðgöng"], ["göng"]],
];

// Of a larger kind only the names that one place alone bears are taken: 44 waterfalls are called
// Fossar, "waterfalls", and say little about search.
const LARGE_KIND = 400;

/** The places of every kind, in the order of the source. */
export async function icelandicFacilities() {
  const database = await wheelDatabase("iceaddr-0.6.2-py3-none-any.whl", "iceaddr/iceaddr.db");
  const [{ values }] = database.exec(
    "SELECT id, nafn, flokkur, long_wgs84, lat_wgs84 FROM ornefni WHERE long_wgs84 IS NOT NULL ORDER BY id",
  );
  const places = values
    .map(([id, name, placeClass, longitude, latitude]) => ({
      id,
      name,
      placeClass,
      location: [longitude, latitude],
      kind: kindOf(name, placeClass),
    }))
    .filter(({ kind }) => kind !== undefined);
  const ofKind = countBy(places, ({ kind }) => kind);
  const ofName = countBy(places, ({ kind, name }) => `${kind[2]} ${name}`);
  return places
    .filter(({ kind, name }) => ofKind.get(kind) <= LARGE_KIND || ofName.get(`${kind[2]} ${name}`) === 1)
    .map(facility);
}

function kindOf(name, placeClass) {
  const lower = name.toLowerCase();
  return KINDS.find(
    ([, , , , classes, endings]) =>
      classes.some((wanted) => placeClass.startsWith(wanted)) &&
      endings.some((ending) => lower.endsWith(ending)),
  );
}

function facility({ id, name, placeClass, location, kind }) {
  const [collection, facilityType, subType, words] = kind;
  return {
    collection,
    externalId: `iceaddr:${id}`,
    facilityType,
    subType,
    displayName: name,
    searchTerms: [words],
    description: `Named in the place names of IS 50V, class ${placeClass}; by its name a ${words}.`,
    location,
    source: "iceaddr",
  };
}

function countBy(items, key) {
  const counts = new Map();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  return counts;
}
