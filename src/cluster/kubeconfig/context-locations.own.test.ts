import { deepEqual } from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CONTEXT_LOCATIONS_MAX, placesIn, readContextLocations, recordContextLocation, withPlace } from "./context-locations.ts";

for (const [text, expected] of [
  ["", []],
  ["/of/a/k8ts/that/recorded/one", ["/of/a/k8ts/that/recorded/one"]],
  ['["/a","/b"]\n', ["/a", "/b"]],
  ['["/a",7]', ["/a"]],
  ["{}", []],
  ['["/a', []],
] as const) {
  test(`${JSON.stringify(text)} has ${expected.length} locations`, () => deepEqual(placesIn(text), expected));
}

test("the last location is the newest, none is repeated, and the oldest are dropped over the limit", () => {
  deepEqual(withPlace(["/a", "/b"], "/a"), { places: ["/b", "/a"], forgotten: [] });
  const full = Array.from({ length: CONTEXT_LOCATIONS_MAX }, (_, index) => `/${index}`);
  deepEqual(withPlace(full, "/new"), { places: [...full.slice(1), "/new"], forgotten: ["/0"] });
});

test("over the limit, locations of missing files are dropped silently", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-places-"));
  context.after(() => rm(directory, { recursive: true }));
  const home = { contextPlaces: join(directory, "places") };
  const [there, gone] = [join(directory, "there"), join(directory, "gone")];
  await writeFile(there, "");
  deepEqual(await readContextLocations(home), []);
  const full = [there, ...Array.from({ length: CONTEXT_LOCATIONS_MAX - 1 }, (_, index) => `${gone}-${index}`)];
  await writeFile(home.contextPlaces, JSON.stringify(full));

  deepEqual(await recordContextLocation(home, gone), []);
  deepEqual(JSON.parse(await readFile(home.contextPlaces, "utf8")), [there, gone]);
});
