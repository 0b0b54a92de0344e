/** The field manager of a write, and the fields that a path cannot own. */
import type { FieldWriter } from "../../api/machinery/apply/managed-fields.ts";
import type { Versions } from "../../api/machinery/apply/versions.ts";
import { apiVersionOf, type KubeObject } from "../../api/machinery/object.ts";
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

/** managedFields refer to the version in which they were written; this converts between the versions of a kind. */
export function otherVersions({ resource, schemas }: Endpoint): { readonly versions?: Versions } {
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
        const stored = servedIn(sent.apiVersion)?.toStorage?.(sent) ?? sent;
        return servedIn(toApiVersion)?.fromStorage?.(stored) ?? stored;
      },
    },
  };
}
