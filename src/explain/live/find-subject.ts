/** Parses what `k8ts why` and `k8ts trace` are asked about: "pod/web", "deploy/web", "dns/web.shop". */
import { groupResourceOf } from "../../api/machinery/object.ts";
import type { Client } from "../../client/client.ts";
import { resolveReference } from "../../embedded/object-reference.ts";
import type { Subject } from "../why/cluster-view.ts";

/** Rejects with a message that describes valid references. */
export async function findSubject(reference: string, namespace: string, client: Client): Promise<Subject> {
  if (reference.startsWith("dns/")) return { resource: "dns", namespace, name: reference.slice("dns/".length) };
  const { kind, name } = await resolveReference(reference, client);
  if (name === undefined) throw new Error(`Cannot explain all ${kind.plural}: name one, as in ${reference}/NAME`);
  const resource = groupResourceOf(kind.storage.group, kind.plural);
  return { resource, namespace: kind.scope === "Namespaced" ? namespace : "", name };
}
