/** Applies several documents, one after the other as kubectl does, and reports what happened to each. */
import { writeVisibleYaml } from "../../../api/machinery/codec/yaml/write.ts";
import type { JsonObject, KubeObject } from "../../../api/machinery/object.ts";
import type { ClusterApi } from "../cluster-api.ts";
import { textAt } from "../fields.ts";
import { pathOf, type Kind } from "../kinds.ts";
import { withoutBookkeeping } from "./field-changes.ts";
import { applyDocument, conflictsOf, kindOfDocument, type FieldConflict } from "./write-object.ts";

export interface DocumentResult {
  /** "Deployment web". */
  readonly name: string;
  readonly outcome: "created" | "changed" | "unchanged" | "failed";
  readonly object?: KubeObject;
  /** As YAML without bookkeeping; "" for a new object. */
  readonly before: string;
  readonly after: string;
  readonly error?: Error;
  readonly conflicts: readonly FieldConflict[];
}

export interface ApplyOptions {
  readonly api: ClusterApi;
  readonly kinds: readonly Kind[];
  readonly values: readonly JsonObject[];
  /** Of documents without one. */
  readonly namespace: string;
  readonly isDryRun: boolean;
  readonly isForced: boolean;
}

export async function applyDocuments({ values, ...options }: ApplyOptions): Promise<readonly DocumentResult[]> {
  const results: DocumentResult[] = [];
  for (const value of values) {
    const name = `${textAt(value, "kind")} ${textAt(value, "metadata", "name") || textAt(value, "metadata", "generateName")}`;
    results.push(
      await applyOne(value, name, options).catch((error: unknown): DocumentResult => ({
        ...{ name, outcome: "failed", before: "", after: "", error: error as Error, conflicts: conflictsOf(error) },
      })),
    );
  }
  return results;
}

async function applyOne(value: JsonObject, name: string, options: Omit<ApplyOptions, "values">): Promise<DocumentResult> {
  const { api, kinds } = options;
  // The dry run comes first in any case: its code shows whether the object exists, without a request that fails.
  const trial = await applyDocument(api, kinds, value, { ...options, isDryRun: true });
  const live = trial.isNew ? undefined : await liveObject(api, kindOfDocument(kinds, value), trial.object);
  const { object, isNew } = options.isDryRun ? trial : await applyDocument(api, kinds, value, options);
  const [before, after] = [live === undefined ? "" : yamlOf(live), yamlOf(object)];
  return { name, object, before, after, outcome: isNew ? "created" : before === after ? "unchanged" : "changed", conflicts: [] };
}

function liveObject(api: ClusterApi, kind: Kind, { metadata: { namespace = "", name } }: KubeObject): Promise<KubeObject> {
  return api.get<KubeObject>(pathOf(kind, { namespace, name }));
}

function yamlOf(object: KubeObject): string {
  return writeVisibleYaml(withoutBookkeeping(object));
}
