// Geozones: the countries of world-atlas, the states and counties of us-atlas, all of them.
import { quantizedFeatures } from "./quantized.mjs";
import { packageJson } from "./packages.mjs";

/** Every boundary, in the order of its source; with `unrepaired`, the one of the source, where it was repaired. */
export function geozones() {
  const world = packageJson("world-atlas", "countries-10m.json");
  const unitedStates = packageJson("us-atlas", "counties-10m.json");
  return [...countries(world), ...states(unitedStates), ...counties(unitedStates)];
}

function countries(topology) {
  const seen = new Set();
  return quantizedFeatures(topology, "countries").map(({ id, name, quantizedBoundary, unrepaired }) => {
    // 16 areas have no ISO code and one shares Australia's: these go by their name.
    const externalId = id === undefined || seen.has(id) ? `name:${name}` : id;
    seen.add(externalId);
    const code = id === undefined ? "without an ISO 3166-1 code" : `ISO 3166-1 numeric ${id}`;
    return {
      collection: "countries",
      externalId,
      displayName: name,
      description: `Natural Earth admin 0 country at 1:10 000 000, ${code}.`,
      quantizedBoundary,
      unrepaired,
      source: "world-atlas",
    };
  });
}

function states(topology) {
  return quantizedFeatures(topology, "states").map(({ id, name, quantizedBoundary, unrepaired }) => ({
    collection: "us_states",
    externalId: id,
    displayName: name,
    searchTerms: ["US state or territory"],
    description: `State or territory of the United States, FIPS code ${id}.`,
    quantizedBoundary,
    unrepaired,
    source: "us-atlas",
  }));
}

function counties(topology) {
  const stateNames = new Map(
    topology.objects.states.geometries.map(({ id, properties }) => [id, properties.name]),
  );
  return quantizedFeatures(topology, "counties").map(({ id, name, quantizedBoundary, unrepaired }) => {
    const state = stateNames.get(id.slice(0, 2));
    return {
      collection: "us_counties",
      externalId: id,
      // 31 counties are called Washington; the state tells them apart in a list.
      displayName: `${name}, ${state}`,
      searchTerms: ["US county"],
      description: `County or county equivalent of ${state}, FIPS code ${id}.`,
      quantizedBoundary,
      unrepaired,
      source: "us-atlas",
    };
  });
}
