/** Compares the descriptions of types and fields, and which of them are unions or have lists of undeclared type, with OpenAPI documents. */
import { parseDescriptions, type TypeDescription } from "../../src/api/descriptions.ts";
import { descriptionData } from "../../src/api/generated/descriptions.ts";
import type { Comparison } from "./comparison.ts";
import { type OpenApiSchema, readOpenApiSchemas } from "./openapi-snapshot.ts";

export const descriptionTexts: Comparison = {
  name: "description-texts",

  async compare(directory) {
    const ours = parseDescriptions(descriptionData);
    return [...readOpenApiSchemas(directory)].flatMap(([name, theirs]) => [
      ...differing(name, ours.ofType(name)?.description, theirs.description),
      ...Object.entries(theirs.properties ?? {}).flatMap(([key, property]) =>
        differing(`${name}.${key}`, ours.ofField(name, key), property.description),
      ),
      ...unionDifferences(name, ours.ofType(name)?.union, theirs["x-kubernetes-unions"]?.[0]),
      ...listDifferences(name, ours.ofType(name)?.undeclaredLists ?? [], theirs.properties ?? {}),
    ]);
  },
};

/** A server that shows enumerations describes their values below the text; the server of the snapshots does not. */
const ENUM_VALUES = /\n*Possible enum values:\n[^]*$/;

function differing(place: string, ours = "", theirs = ""): string[] {
  if (comparable(ours) === comparable(theirs)) return [];
  return [`${place}: ours ${JSON.stringify(ours)}, theirs ${JSON.stringify(theirs)}`];
}

function comparable(text: string): string {
  return text.replace(ENUM_VALUES, "");
}

function unionDifferences(name: string, ours: TypeDescription["union"], theirs: unknown): string[] {
  const members = Object.fromEntries(
    (ours?.members ?? []).toSorted().map((member) => [member, member.charAt(0).toUpperCase() + member.slice(1)]),
  );
  const discriminator = ours?.discriminator;
  const union = ours && { ...(discriminator !== undefined && { discriminator }), "fields-to-discriminateBy": members };
  return JSON.stringify(union) === JSON.stringify(theirs)
    ? []
    : [`${name}, union: ours ${JSON.stringify(union)}, theirs ${JSON.stringify(theirs)}`];
}

function listDifferences(name: string, ours: readonly string[], properties: NonNullable<OpenApiSchema["properties"]>): string[] {
  const lists = Object.entries(properties).filter(([, property]) => property.type === "array");
  const theirs = lists.filter(([, property]) => property["x-kubernetes-list-type"] === undefined).map(([key]) => key);
  const [oursText, theirsText] = [ours.toSorted().join(" "), theirs.toSorted().join(" ")];
  return oursText === theirsText ? [] : [`${name}, undeclared lists: ours "${oursText}", theirs "${theirsText}"`];
}
