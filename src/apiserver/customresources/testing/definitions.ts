/** CustomResourceDefinitions and objects for tests of the API server. */
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { StartedServer } from "../../testing/server.ts";

export const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const CRON_TABS = "/apis/example.com/v1/namespaces/default/crontabs";

export interface DefinitionOptions {
  readonly schema: JsonObject;
  /** More members of the only version. */
  readonly version?: JsonObject;
  readonly plural?: string;
  readonly kind?: string;
  readonly shortNames?: readonly string[];
  /** More members of the spec. */
  readonly spec?: JsonObject;
}

export function aDefinition({
  schema,
  version,
  plural = "crontabs",
  kind = "CronTab",
  shortNames = ["ct"],
  spec,
}: DefinitionOptions): JsonObject {
  const only = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.example.com` },
    spec: { group: "example.com", scope: "Namespaced", names: { plural, kind, shortNames }, versions: [only], ...spec },
  };
}

/** Resolves when its resource is served. */
export async function createDefinition(started: Pick<StartedServer, "call">, options: DefinitionOptions): Promise<void> {
  const { code, text } = await started.call("POST", CRDS, aDefinition(options));
  if (code !== 201) throw new Error(`Cannot create the definition: ${text}`);
  await settled(started);
}

/** More than the longest chain of writes that a change causes. */
const SETTLING_REQUESTS = 40;

/** The server's own writes that follow a change are done. They need no time, only requests that take their turns. */
export async function settled(started: Pick<StartedServer, "call">): Promise<void> {
  for (let request = 0; request < SETTLING_REQUESTS; request++) await started.call("GET", CRDS);
}

export function cronTab(name: string, spec: JsonObject): JsonObject {
  return { apiVersion: "example.com/v1", kind: "CronTab", metadata: { name }, spec };
}
