/**
 * Conversion between the version of a request and the stored one, for kinds whose versions are converted on their own (Resource.conversion).
 * A conversion by another program takes time, so objects are prepared before they are used; everything after that is synchronous. For all
 * other kinds these functions do nothing and return nothing to wait for.
 */
import { apiVersionOf, type KubeObject } from "../../../api/machinery/object.ts";
import type { Conversion, ServedVersion } from "../../../api/machinery/resource.ts";
import type { Endpoint } from "../endpoints.ts";
import type { StoredObject } from "./storage.ts";

/** Maximum number of objects per conversion request, so that neither body becomes too large. */
const OBJECTS_PER_CONVERSION_MAX = 500;

/** Conversions in progress: of all readers of an object that need the same version, the first converts it. */
const inProgress = new WeakMap<StoredObject, Map<ServedVersion, Promise<void>>>();

/** Makes `in(endpoint.served)` available on all objects. Returns a promise only if there is something to wait for. */
export function prepareObjects(
  { resource, served }: Pick<Endpoint, "resource" | "served">,
  objects: Iterable<StoredObject>,
): Promise<void> | undefined {
  const { conversion } = resource;
  if (conversion === undefined) return undefined;
  const missing: StoredObject[] = [];
  const others = new Set<Promise<void>>();
  for (const object of objects) {
    if (object.isPreparedFor(served)) continue;
    const known = inProgress.get(object)?.get(served);
    if (known === undefined) missing.push(object);
    else others.add(known);
  }
  const own = missing.length === 0 ? undefined : convertAll(conversion, served, missing, 0);
  if (own !== undefined) others.add(recorded(served, missing, own));
  return others.size === 0 ? undefined : Promise.all(others).then(() => undefined);
}

function recorded(served: ServedVersion, objects: readonly StoredObject[], converting: Promise<void>): Promise<void> {
  for (const object of objects) {
    const versions = inProgress.get(object) ?? new Map<ServedVersion, Promise<void>>();
    inProgress.set(object, versions.set(served, converting));
  }
  const forget = () => objects.forEach((object) => inProgress.get(object)?.delete(served));
  return converting.finally(forget);
}

function convertAll(
  conversion: Conversion,
  served: ServedVersion,
  missing: readonly StoredObject[],
  from: number,
): Promise<void> | undefined {
  for (let start = from; start < missing.length; start += OBJECTS_PER_CONVERSION_MAX) {
    const some = missing.slice(start, start + OBJECTS_PER_CONVERSION_MAX);
    const forms = conversion.convert(
      some.map(({ object }) => object),
      served.version,
    );
    if (forms instanceof Promise) {
      return forms.then((converted) => {
        keepForms(served, some, converted);
        return convertAll(conversion, served, missing, start + some.length);
      });
    }
    keepForms(served, some, forms);
  }
  return undefined;
}

function keepForms(served: ServedVersion, objects: readonly StoredObject[], forms: readonly KubeObject[]): void {
  for (const [index, object] of objects.entries()) object.keepForm(served, forms[index] as KubeObject);
}

/** The object in the version that the functions of the endpoint's resource work on. */
export function workingForm({ resource, served }: Pick<Endpoint, "resource" | "served">, object: StoredObject): KubeObject {
  return resource.conversion === undefined ? object.object : object.in(served);
}

/** The inverse: the object to be stored, with the defaults of the storage version, which upstream adds when it reads what it has stored. */
export function storageForm({ resource }: Endpoint, object: KubeObject): KubeObject | Promise<KubeObject> {
  const { conversion, storage, served } = resource;
  if (conversion === undefined || object.apiVersion === apiVersionOf(storage)) return object;
  const stored = served.find(({ version }) => version === storage.version);
  const completed = ([only]: readonly KubeObject[]): KubeObject => stored?.defaults?.(only as KubeObject) ?? (only as KubeObject);
  const converted = conversion.convert([object], storage.version);
  return converted instanceof Promise ? converted.then(completed) : completed(converted);
}
