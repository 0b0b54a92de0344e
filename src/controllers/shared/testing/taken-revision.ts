/** A cluster in which another object has the name that the first revision of a set gets: the controller must avoid it. */
import { controllerRevisions } from "../../../api/apps/v1/controller-revision.ts";
import { given, type Given } from "../../../testing/given.ts";

export interface TakenRevision {
  readonly cluster: Given;
  /** The name that is taken. */
  readonly name: string;
}

/** `reconcile`: of the controller, once. The name is found out in another cluster, which is closed. */
export async function givenTakenRevision(set: object, reconcile: (cluster: Given) => Promise<unknown>): Promise<TakenRevision> {
  await using probe = await given(set);
  await reconcile(probe);
  const [revision] = await probe.list(controllerRevisions, "default");
  const name = revision?.metadata.name ?? "";
  const metadata = { namespace: "default", name };
  const taken = { apiVersion: "apps/v1", kind: "ControllerRevision", metadata, data: {}, revision: 1 };
  return { cluster: await given(taken, set), name };
}
