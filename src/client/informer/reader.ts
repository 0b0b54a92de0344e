/** Reads from whichever informers were started. */
import type { KubeObject } from "../../api/machinery/object.ts";
import { assert } from "../../base/assert.ts";
import type { ResourceKind } from "../client.ts";
import { byController, withoutController } from "./index.ts";
import type { Informer, Informers, Reader } from "./informer.ts";

export function readerOf(informers: Informers): Reader {
  const of = <T extends KubeObject>(kind: ResourceKind<T>): Informer<T> => {
    const informer = informers.running(kind);
    assert(informer !== undefined, `who reads ${kind.plural} watches them`);
    return informer;
  };
  return {
    knows: (kind) => informers.running(kind)?.isSynced === true,
    get: (kind, key) => of(kind).get(key),
    list: (kind, namespace) => of(kind).list(namespace),
    indexed: (index, value) => of(index.kind).indexed(index, value),
    controlledBy(kind, owner) {
      const informer = of(kind);
      return informer.indexed(byController(informer.kind), owner.metadata.uid ?? "");
    },
    uncontrolled(kind, namespace) {
      const informer = of(kind);
      return informer.indexed(withoutController(informer.kind), namespace);
    },
  };
}
