/**
 * Tracks the kubeconfigs that contain a cluster's context: each start may have used another one, and all of them hold the administrator's
 * key until `k8ts reset` removes it. The one of the last start is last. Pure except for reading and writing the home's file.
 */
import { readFile } from "node:fs/promises";
import { fileExists } from "../../host/files/files.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import type { HomePaths } from "../home/home-paths.ts";

/** More than a person uses; a script that uses a new file at every start must not fill the home. */
export const CONTEXT_LOCATIONS_MAX = 64;

/** Empty if it cannot be parsed. Earlier versions wrote a single path. */
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
  /** Locations dropped because of the limit. */
  readonly forgotten: readonly string[];
}

/** Appends a location. The oldest are dropped first. */
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

/** Resolves with the dropped locations. Deleted files are dropped first. */
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
