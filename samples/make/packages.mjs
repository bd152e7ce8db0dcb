// Reading what `npm run fetch` brought.
import { readFileSync } from "node:fs";
import { unzipSync } from "fflate";
import initSqlite from "sql.js";

const here = new URL("./", import.meta.url);

export function packageText(name, file) {
  return readFileSync(new URL(`node_modules/${name}/${file}`, here), "utf8");
}

export function packageJson(name, file) {
  return JSON.parse(packageText(name, file));
}

/** A SQLite database out of a Python wheel, which is a zip file. */
export async function wheelDatabase(wheel, file) {
  const archive = readFileSync(new URL(`wheels/${wheel}`, here));
  const unpacked = unzipSync(archive, { filter: (entry) => entry.name === file });
  const sqlite = await initSqlite();
  return new sqlite.Database(unpacked[file]);
}
