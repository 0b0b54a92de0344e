/** Waits until a watch has shown many objects in a state. */
import type { Node, Pod } from "../../src/api/generated/core/v1.ts";
import type { KubeObject } from "../../src/api/machinery/object.ts";
import type { Client, ResourceKind } from "../../src/client/client.ts";

/** Resolves when `count` objects satisfy the predicate. */
export async function seen<T extends KubeObject>(
  client: Client,
  kind: ResourceKind<T>,
  count: number,
  isSo: (object: T) => boolean,
): Promise<void> {
  const found = new Set<string>();
  const { items, metadata } = await client.list(kind);
  for (const item of items) if (isSo(item)) found.add(item.metadata.uid ?? "");
  if (found.size >= count) return;
  await new Promise<void>((resolve, reject) => {
    const watching = client.watch(
      kind,
      { resourceVersion: metadata.resourceVersion ?? "" },
      {
        event(event) {
          if ((event.type !== "ADDED" && event.type !== "MODIFIED") || !isSo(event.object)) return;
          found.add(event.object.metadata.uid ?? "");
          if (found.size < count) return;
          resolve();
          void watching.then((watch) => watch.stop());
        },
        ended: () => reject(new Error(`The watch of ${kind.plural} ended after ${found.size} of ${count} objects`)),
      },
    );
    watching.catch(reject);
  });
}

export function isReady({ spec, status }: Node): boolean {
  return (
    (spec?.taints ?? []).length === 0 && status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true
  );
}

export function isRunning({ status }: Pod): boolean {
  return status?.phase === "Running";
}
