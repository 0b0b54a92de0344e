/** Compares discovery: groups and their order, and the entry of every resource and subresource of the kinds that we serve. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Comparison } from "./comparison.ts";
import { withOurDocuments, type ReadDocument } from "./our-documents.ts";
import { findSnapshot } from "./snapshot.ts";

interface GroupList {
  readonly groups: readonly { readonly name: string; readonly preferredVersion: { readonly groupVersion: string } }[];
}

interface ResourceList {
  readonly resources: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];
}

export const discovery: Comparison = {
  name: "discovery",

  compare: (directory) =>
    withOurDocuments(async (read) => {
      const folder = findSnapshot(directory, "discovery");
      const found = await groupDifferences(folder, read);
      for (const file of readdirSync(folder).sort()) {
        if (/^(api__[^_]+|apis__[^_]+__[^_]+)\.json$/.test(file)) found.push(...(await resourceDifferences(folder, file, read)));
      }
      return found;
    }),
};

/** Order of the groups that both have, and their preferred versions. */
async function groupDifferences(folder: string, read: ReadDocument): Promise<string[]> {
  const ours = ((await read("/apis")) as GroupList).groups;
  const theirs = readGroups(folder).filter(({ name }) => ours.some((group) => group.name === name));
  const shown = (groups: GroupList["groups"]): string => groups.map(({ preferredVersion }) => preferredVersion.groupVersion).join(" ");
  return differing("/apis, groups", shown(ours), shown(theirs));
}

function readGroups(folder: string): GroupList["groups"] {
  return (JSON.parse(readFileSync(join(folder, "apis.json"), "utf8")) as GroupList).groups;
}

async function resourceDifferences(folder: string, file: string, read: ReadDocument): Promise<string[]> {
  const path = file.replace(/\.json$/, "").replaceAll("__", "/");
  const ours = (await read(`/${path}`)) as ResourceList | undefined;
  if (ours === undefined) return [`${path}: we do not serve it`];
  const theirs = JSON.parse(readFileSync(join(folder, file), "utf8")) as ResourceList;
  const [our, their] = [byName(ours), byName(theirs)];
  return [...new Set([...their.keys(), ...our.keys()])].flatMap((name) => {
    const [mine, yours] = [our.get(name), their.get(name)];
    if (yours === undefined) return [`${path} ${name}: they do not have it`];
    if (mine !== undefined) return entryDifferences(`${path} ${name}`, mine, yours);
    const [plural = ""] = name.split("/");
    // Subresources of a missing kind are not reported separately.
    if (!our.has(plural)) return name === plural ? [`${path} ${name}: we do not serve it`] : [];
    return [`${path} ${name}: we do not have it`];
  });
}

function byName({ resources }: ResourceList): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  return new Map(resources.map((resource) => [resource.name, resource]));
}

function entryDifferences(place: string, ours: Readonly<Record<string, unknown>>, theirs: Readonly<Record<string, unknown>>): string[] {
  const fields = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  return [...fields].flatMap((field) => differing(`${place}, ${field}`, JSON.stringify(ours[field]), JSON.stringify(theirs[field])));
}

function differing(place: string, ours = "nothing", theirs = "nothing"): string[] {
  return ours === theirs ? [] : [`${place}: ours ${ours}, theirs ${theirs}`];
}
