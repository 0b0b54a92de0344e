/** What a path of the Kubernetes API names: objects of a kind, one object, or a part of one. Pure. */

export interface ApiPath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** "": all namespaces, or a cluster-scoped kind. */
  readonly namespace: string;
  /** "": all objects. */
  readonly name: string;
  readonly subresource: string;
  /** Path of the list that the object is in. */
  readonly listPath: string;
}

/** Undefined: no path of objects, such as discovery. */
export function parseApiPath(path: string): ApiPath | undefined {
  const [, root, ...segments] = path.split("/").map(decodeSegment);
  if (root !== "api" && root !== "apis") return undefined;
  const [group = "", version = ""] = root === "api" ? ["", segments.shift()] : [segments.shift(), segments.shift()];
  // Of a Namespace itself there are only two parts; everything else below it is a kind.
  const isInNamespace = segments[0] === "namespaces" && segments.length > 2 && segments[2] !== "status" && segments[2] !== "finalize";
  const [, namespace = ""] = isInNamespace ? segments.splice(0, 2) : [];
  const [plural = "", name = "", ...subresource] = segments;
  if (version === "" || plural === "") return undefined;
  const prefix = root === "api" ? `/api/${version}` : `/apis/${group}/${version}`;
  const listPath = `${prefix}${namespace === "" ? "" : `/namespaces/${namespace}`}/${plural}`;
  return { group, version, plural, namespace, name, subresource: subresource.join("/"), listPath };
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
