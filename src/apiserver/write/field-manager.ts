/** The field manager of a write, and the fields that a path cannot own. */
import type { FieldWriter } from "../../api/machinery/apply/managed-fields.ts";
import type { Versions } from "../../api/machinery/apply/versions.ts";
import { writeJson } from "../../api/machinery/codec/json.ts";
import { apiVersionOf, type KubeObject } from "../../api/machinery/object.ts";
import type { Conversion } from "../../api/machinery/resource.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";

const MANAGER_LENGTH_MAX = 128;

const UNPRINTABLE = /[^\P{C}]/gu;

export function fieldWriter({ options, context, subresource }: ApiRequest, { apiVersion }: Endpoint, time: string): FieldWriter {
  const manager = managerOf(options.fieldManager, context.userAgent);
  return { manager, apiVersion, time, ...(subresource === "" ? {} : { subresource }) };
}

/** The requested field manager, or the user agent up to its first slash. */
function managerOf(fieldManager: string | undefined, userAgent: string): string {
  if (fieldManager !== undefined && fieldManager !== "") return fieldManager;
  const program = userAgent.split("/", 1)[0] ?? "";
  return program.replaceAll(UNPRINTABLE, "").slice(0, MANAGER_LENGTH_MAX);
}

/** Owners of fields that are computed on the first call: admission may read them before the write does. */
export function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => (known ??= { value: compute() }).value;
}

/** How fields of other versions are read; absent if the kind has one version. */
export interface OtherVersions {
  readonly versions?: Versions;
}

/** Maximum number of conversions for the owners of one write: each owner may refer to another version. */
const CONVERSIONS_MAX = 16;

/** Thrown where field ownership needs an object in another version that another program has to convert first. */
class ConversionNeeded extends Error {
  override readonly name = "ConversionNeeded";
  readonly key: string;
  readonly converting: Promise<readonly KubeObject[]>;

  constructor(key: string, converting: Promise<readonly KubeObject[]>) {
    super("an object must be converted first");
    this.key = key;
    this.converting = converting;
  }
}

/**
 * Computes something with the versions of a kind. Ownership is computed synchronously: where another program converts, the computation is
 * repeated with the converted objects, which is rare, since most kinds have one version among their owners.
 */
export function withVersions<T>(endpoint: Endpoint, compute: (versions: OtherVersions) => T | Promise<T>): T | Promise<T> {
  if (endpoint.resource.conversion === undefined) return compute(otherVersions(endpoint));
  return computeWithConversions(endpoint, compute);
}

async function computeWithConversions<T>(endpoint: Endpoint, compute: (versions: OtherVersions) => T | Promise<T>): Promise<T> {
  const converted = new Map<string, KubeObject>();
  for (let attempt = 1; ; attempt++) {
    try {
      return await compute(otherVersions(endpoint, converted));
    } catch (error) {
      if (!(error instanceof ConversionNeeded) || attempt > CONVERSIONS_MAX) throw error;
      const [object] = await error.converting;
      converted.set(error.key, object as KubeObject);
    }
  }
}

/** managedFields refer to the version in which they were written; this converts between the versions of a kind. */
export function otherVersions({ resource, schemas }: Endpoint, converted: ReadonlyMap<string, KubeObject> = NONE_CONVERTED): OtherVersions {
  if (resource.served.length === 1) return {};
  const servedIn = (apiVersion: string) => resource.served.find((served) => apiVersionOf(served) === apiVersion);
  return {
    versions: {
      schemaFor(apiVersion) {
        const schema = schemas.get(servedIn(apiVersion)?.schema ?? "");
        return schema?.type === "object" ? schema : undefined;
      },

      convert(object, toApiVersion) {
        const sent = object as KubeObject;
        if (resource.conversion !== undefined) return convertedTo(resource.conversion, sent, toApiVersion, converted);
        const stored = servedIn(sent.apiVersion)?.toStorage?.(sent) ?? sent;
        return servedIn(toApiVersion)?.fromStorage?.(stored) ?? stored;
      },
    },
  };
}

const NONE_CONVERTED: ReadonlyMap<string, KubeObject> = new Map();

function convertedTo(conversion: Conversion, object: KubeObject, apiVersion: string, known: ReadonlyMap<string, KubeObject>): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  const key = `${apiVersion} ${writeJson(object)}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const forms = conversion.convert([object], apiVersion.slice(apiVersion.indexOf("/") + 1));
  if (forms instanceof Promise) throw new ConversionNeeded(key, forms);
  return forms[0] as KubeObject;
}
