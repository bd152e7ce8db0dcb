// Facilities of the United States: the airports of the West, and the capitols of all states.
import { csvParse } from "d3-dsv";
import { packageJson, packageText } from "./packages.mjs";

// The West as the Census Bureau draws it (Census Regions and Divisions, region 4).
const WEST = new Map([
  ["AK", "Alaska"],
  ["AZ", "Arizona"],
  ["CA", "California"],
  ["CO", "Colorado"],
  ["HI", "Hawaii"],
  ["ID", "Idaho"],
  ["MT", "Montana"],
  ["NM", "New Mexico"],
  ["NV", "Nevada"],
  ["OR", "Oregon"],
  ["UT", "Utah"],
  ["WA", "Washington"],
  ["WY", "Wyoming"],
]);

/** Where one arrives: every airport, seaplane base and heliport of the West. */
export function airports() {
  return csvParse(packageText("vega-datasets", "data/airports.csv"))
    .filter(({ state }) => WEST.has(state))
    .map(({ iata, name, city, state, longitude, latitude }) => {
      const [subType, words] = airportKind(name);
      return {
        collection: "us_west_airports",
        externalId: iata,
        facilityType: "accessPoint",
        subType,
        displayName: name,
        searchTerms: [iata, words, city],
        description: `${words[0].toUpperCase()}${words.slice(1)} at ${city}, ${WEST.get(state)}, location identifier ${iata}.`,
        location: [Number(longitude), Number(latitude)],
        source: "vega-datasets airports",
      };
    });
}

/** The capitol building of each state. */
export function capitols() {
  return packageJson("vega-datasets", "data/us-state-capitals.json").map(
    ({ state, city, lon, lat }) => ({
      collection: "us_states",
      externalId: `capitol:${state}`,
      facilityType: "structure",
      subType: "capitol",
      displayName: `Capitol of ${state}, ${city}`,
      searchTerms: ["state capitol", "state capital"],
      description: `The capitol building of ${state} in ${city}.`,
      location: [lon, lat],
      source: "vega-datasets us_state_capitals",
    }),
  );
}

function airportKind(name) {
  if (/\b(SPB|Seaplane Base|Seaplane Facility)$/.test(name)) return ["seaplaneBase", "seaplane base"];
  if (/\bHeliport$/.test(name)) return ["heliport", "heliport"];
  return ["airport", "airport"];
}
