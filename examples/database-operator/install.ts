/** Installs the manifests, and waits until the API server serves the kind. */
import type { Client, KubeObject, ResourceKind } from "k8ts/client";
import { isReason } from "k8ts/client";
import { customResourceDefinitions, mutatingWebhookConfigurations, validatingWebhookConfigurations } from "k8ts/kinds";
import { databases } from "./database.ts";

const KINDS: readonly ResourceKind[] = [customResourceDefinitions, mutatingWebhookConfigurations, validatingWebhookConfigurations];

export async function install(client: Client, objects: readonly object[], wait: () => Promise<void>): Promise<void> {
  for (const object of objects as readonly KubeObject[]) {
    const kind = KINDS.find((each) => each.kind === object.kind);
    if (kind !== undefined) await client.apply(kind, object, { fieldManager: "database-operator", force: true });
  }
  // A new kind is served shortly after.
  while (!(await isServed(client))) await wait();
}

async function isServed(client: Client): Promise<boolean> {
  try {
    await client.list(databases, { limit: 1 });
    return true;
  } catch (error) {
    if (isReason(error, "NotFound")) return false;
    throw error;
  }
}
