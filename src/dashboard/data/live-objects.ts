/** The objects of one kind, whole, kept current by a watch: for the pages that show one object, and for the cluster map. */
import type { KubeObject } from "../../api/machinery/object.ts";
import { runLiveList, type LiveFormat, type LiveOptions } from "./live-list.ts";

interface ObjectPage {
  readonly apiVersion: string;
  /** "PodList": items have no kind of their own. */
  readonly kind: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly Omit<KubeObject, "apiVersion" | "kind">[] | null;
}

const FORMAT: LiveFormat<ObjectPage, KubeObject, KubeObject> = {
  accept: "application/json",
  itemsOf: ({ apiVersion, kind, items }) => (items ?? []).map((item) => keyed({ apiVersion, kind: kind.replace(/List$/, ""), ...item })),
  itemOf: keyed,
  revisionOf: ({ metadata }) => metadata.resourceVersion,
};

/** Runs until the signal is aborted. Keys are NAMESPACE/NAME. */
export function runLiveObjects(options: LiveOptions<KubeObject>): Promise<void> {
  return runLiveList(FORMAT, options);
}

function keyed(object: KubeObject): readonly [string, KubeObject] {
  const { namespace = "", name } = object.metadata;
  return [`${namespace}/${name}`, object];
}
