/**
 * The kubeconfigs that a cluster's context was put into, as its home remembers them: each start may have had another one, and all of them
 * hold the administrator's key until `k8ts reset` takes it out. The one of the last start is the last. Pure but for the two that read and
 * write the home's file.
 */
import { readFile } from "node:fs/promises";
import { fileExists } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import type { HomePaths } from "../home/home-paths.ts";

/** More than anybody uses by hand; a script that names a new file at every start must not fill the home. */
export const CONTEXT_LOCATIONS_MAX = 64;

/** None, if it cannot be understood. A k8ts that remembered only one wrote its path and nothing else. */
export function placesIn(text: string): readonly string[] {
  if (text.startsWith("/")) return [text];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
  } catch {
    return [];
  }
}

export interface TrackedLocations {
  readonly places: readonly string[];
  /** Those for which there is no room any more. */
  readonly forgotten: readonly string[];
}

/** With one more, as the last. The oldest are forgotten first. */
export function withPlace(places: readonly string[], path: string): TrackedLocations {
  const all = [...places.filter((place) => place !== path), path];
  const surplus = Math.max(0, all.length - CONTEXT_LOCATIONS_MAX);
  return { places: all.slice(surplus), forgotten: all.slice(0, surplus) };
}

export async function readContextLocations({ contextPlaces }: Pick<HomePaths, "contextPlaces">): Promise<readonly string[]> {
  const text = await readFile(contextPlaces, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return placesIn(text);
}

/** Resolves with those that had to be forgotten. Files that are gone need no room, if there is too little of it. */
export async function recordContextLocation(home: Pick<HomePaths, "contextPlaces">, path: string): Promise<readonly string[]> {
  const before = await readContextLocations(home);
  const isFull = before.length >= CONTEXT_LOCATIONS_MAX;
  const { places, forgotten } = withPlace(isFull ? await thoseThere(before) : before, path);
  await writePrivateText(home.contextPlaces, `${JSON.stringify(places)}\n`);
  return forgotten;
}

async function thoseThere(places: readonly string[]): Promise<readonly string[]> {
  const there = await Promise.all(places.map((place) => fileExists(place)));
  return places.filter((_place, index) => there[index] === true);
}
