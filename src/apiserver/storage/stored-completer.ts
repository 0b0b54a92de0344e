/**
 * Completes stored objects of kinds whose schema can change while objects stay: decodes and defaults an object in the version in which it
 * was stored. Upstream does so whenever it reads one from etcd; here it happens once per stored value.
 */
import { apiVersionOf, type KubeObject } from "../../api/machinery/object.ts";
import type { Resource } from "../../api/machinery/resource.ts";

export function storedCompleter({ served }: Resource): (object: KubeObject) => KubeObject {
  const versions = new Map(served.map((version) => [apiVersionOf(version), version]));
  return (object) => {
    const version = versions.get(object.apiVersion);
    if (version === undefined) throw new Error(`its version ${JSON.stringify(object.apiVersion)} is unknown`);
    const decode = version.decodeStored ?? version.decode;
    const decoded = decode === undefined ? object : (decode(object).object as KubeObject);
    return version.defaults?.(decoded) ?? decoded;
  };
}
