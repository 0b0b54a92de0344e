/** Keeps the graph in sync with the objects, by following the resources it is built from. */
import type { PersistentVolume, Pod } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Follower, KindName } from "../../framework/objects.ts";
import type { NodeGraph, OwnedKind } from "./node-graph.ts";

export function graphFollowers(graph: NodeGraph): readonly (readonly [kind: KindName, follower: Follower])[] {
  return [
    [{ group: "", plural: "pods" }, podFollower(graph)],
    [{ group: "", plural: "persistentvolumes" }, volumeFollower(graph)],
    [{ group: "storage.k8s.io", plural: "volumeattachments" }, ownedFollower(graph, "volumeattachments")],
    [{ group: "resource.k8s.io", plural: "resourceslices" }, ownedFollower(graph, "resourceslices")],
  ];
}

function podFollower(graph: NodeGraph): Follower {
  return {
    put(object, previous) {
      const pod = object as Pod;
      // Nearly every change of a pod is a status update that does not affect the graph.
      if (previous === undefined || !namesTheSame(pod, previous as Pod)) graph.putPod(pod);
    },
    remove: (object) => graph.removePod(object as Pod),
    reset: () => graph.clearPods(),
  };
}

/** Compares by identity, which unchanged parts keep: a false "no" costs a recomputation, and there is no false "yes". */
function namesTheSame(a: Pod, b: Pod): boolean {
  return (
    a.spec === b.spec &&
    a.metadata.annotations === b.metadata.annotations &&
    a.status?.resourceClaimStatuses === b.status?.resourceClaimStatuses &&
    a.status?.extendedResourceClaimStatus === b.status?.extendedResourceClaimStatus
  );
}

function volumeFollower(graph: NodeGraph): Follower {
  return {
    put(object, previous) {
      const volume = object as PersistentVolume;
      if (volume.spec === undefined || volume.spec !== (previous as PersistentVolume | undefined)?.spec) graph.putVolume(volume);
    },
    remove: ({ metadata }) => graph.removeVolume(metadata.name),
    reset: () => graph.clearVolumes(),
  };
}

interface OwnedObject extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}

function ownedFollower(graph: NodeGraph, kind: OwnedKind): Follower {
  return {
    put: (object) => graph.putOwned(kind, { name: object.metadata.name, node: (object as OwnedObject).spec?.nodeName ?? "" }),
    remove: ({ metadata }) => graph.removeOwned(kind, metadata.name),
    reset: () => graph.clearOwned(kind),
  };
}
