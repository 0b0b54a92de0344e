/** Converts between keys of the store and names of objects: `<resource prefix>[<namespace>/]<name>`. */

export interface ObjectName {
  /** "" for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/** The key under `prefix`, that of the resource. */
export function objectKey(prefix: string, { namespace, name }: ObjectName): string {
  return namespace === "" ? `${prefix}${name}` : `${prefix}${namespace}/${name}`;
}

/** The prefix of all objects of a namespace; "" for all namespaces. */
export function namespacePrefix(prefix: string, namespace: string): string {
  return namespace === "" ? prefix : `${prefix}${namespace}/`;
}

export function objectName(prefix: string, key: string): ObjectName {
  const slash = key.indexOf("/", prefix.length);
  return slash === -1
    ? { namespace: "", name: key.slice(prefix.length) }
    : { namespace: key.slice(prefix.length, slash), name: key.slice(slash + 1) };
}
