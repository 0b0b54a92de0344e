/**
 * Converts a stored v1beta1 CustomResourceDefinition, in which upstream stores it, to v1. v1beta1 has shared members beside the list of
 * versions; v1 has them in each version. v1beta1 is no longer served: this reads stored objects only.
 */
import type { Json, JsonObject } from "../../../machinery/object.ts";

export function definitionFromV1beta1(definition: JsonObject): JsonObject {
  const spec = definition["spec"] as JsonObject | undefined;
  return spec === undefined ? definition : { ...definition, spec: specFromV1beta1(spec) };
}

function specFromV1beta1(spec: JsonObject): JsonObject {
  const { version, versions, validation, subresources, additionalPrinterColumns, selectableFields, conversion, ...rest } = spec;
  const listed = (versions ?? []) as readonly JsonObject[];
  const named = listed.length > 0 ? listed : version === undefined ? [] : [{ name: version, served: true, storage: true }];
  const shared = { schema: validation, subresources, additionalPrinterColumns, selectableFields };
  return {
    ...rest,
    versions: named.map((each) => versionFromV1beta1(each, shared)),
    ...(conversion === undefined ? {} : { conversion: conversionFromV1beta1(conversion as JsonObject) }),
  };
}

function versionFromV1beta1(version: JsonObject, shared: Readonly<Record<string, Json | undefined>>): JsonObject {
  const given = Object.entries(shared).filter((entry): entry is [string, Json] => entry[1] !== undefined && entry[1] !== null);
  const whole: JsonObject = { ...version, ...Object.fromEntries(given) };
  const columns = whole["additionalPrinterColumns"] as readonly JsonObject[] | undefined;
  return columns === undefined ? whole : { ...whole, additionalPrinterColumns: columns.map(columnFromV1beta1) };
}

function columnFromV1beta1({ JSONPath, ...column }: JsonObject): JsonObject {
  return JSONPath === undefined ? column : { ...column, jsonPath: JSONPath };
}

function conversionFromV1beta1({ strategy, webhookClientConfig, conversionReviewVersions, ...rest }: JsonObject): JsonObject {
  if (webhookClientConfig === undefined && conversionReviewVersions === undefined) return { ...rest, ...present("strategy", strategy) };
  const webhook = { ...present("clientConfig", webhookClientConfig), ...present("conversionReviewVersions", conversionReviewVersions) };
  return { ...rest, ...present("strategy", strategy), webhook };
}

function present(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}
