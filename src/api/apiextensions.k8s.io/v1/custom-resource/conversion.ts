/**
 * Conversion between the versions of a custom resource without a webhook (strategy None): only apiVersion changes, and fields that the other
 * version does not know are dropped, as upstream drops them when it reads and writes etcd.
 */
import type { CustomResourceDefinitionSpec } from "../../../generated/apiextensions.k8s.io/v1.ts";
import { apiVersionOf, type KubeObject } from "../../../machinery/object.ts";
import type { Conversion } from "../../../machinery/resource.ts";
import { decodeCustomResource, type DecoderOptions } from "./decode.ts";

/** Drops what a version does not know from an object of that version. */
export function versionCoercer({ group, versions, preserveUnknownFields }: CustomResourceDefinitionSpec) {
  const decoders = new Map<string, DecoderOptions>(
    versions.map(({ name, schema }) => [
      apiVersionOf({ group, version: name }),
      { schema: schema?.openAPIV3Schema, preservesUnknown: preserveUnknownFields === true },
    ]),
  );
  return (object: KubeObject): KubeObject => {
    const decoder = decoders.get(object.apiVersion);
    return decoder === undefined ? object : (decodeCustomResource(object, decoder).object as KubeObject);
  };
}

export function renamingConversion(spec: CustomResourceDefinitionSpec): Conversion {
  const coerce = versionCoercer(spec);
  return {
    convert(objects, toVersion) {
      const apiVersion = apiVersionOf({ group: spec.group, version: toVersion });
      return objects.map((object) => (object.apiVersion === apiVersion ? object : coerce({ ...object, apiVersion })));
    },
  };
}
