/**
 * The ConfigMaps, Secrets and Services that Pods of this node refer to, kept up to date while they do: a node may read no others, so each
 * is watched by its name, once, for as long as a Pod needs it. Objects of storage may be read by the node and not watched: they are read
 * each time. The contract; object-references.ts implements it.
 */
import type { ConfigMap, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Service } from "../../api/generated/core/v1.ts";
import type { ClusterTrustBundle } from "../../api/generated/certificates.k8s.io/v1beta1.ts";
import type { CSIDriver, VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";

export interface References extends AsyncDisposable {
  /** Watches what the Pod refers to. Registering a Pod again replaces its references. */
  register(pod: Pod): void;
  unregister(podUid: string): void;
  /** Undefined if it does not exist. Waits for the first answer; rejects if the API server does not respond. */
  configMap(namespace: string, name: string, signal?: AbortSignal): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string, signal?: AbortSignal): Promise<Secret | undefined>;
  persistentVolumeClaim(namespace: string, name: string, signal?: AbortSignal): Promise<PersistentVolumeClaim | undefined>;
  persistentVolume(name: string, signal?: AbortSignal): Promise<PersistentVolume | undefined>;
  csiDriver(name: string, signal?: AbortSignal): Promise<CSIDriver | undefined>;
  volumeAttachment(name: string, signal?: AbortSignal): Promise<VolumeAttachment | undefined>;
  /** Only this node's own. */
  node(name: string, signal?: AbortSignal): Promise<Node | undefined>;
  /** All of them. The Pod is notified of their changes from then on. Waits for the initial list. */
  trustBundles(podUid: string, signal?: AbortSignal): Promise<readonly ClusterTrustBundle[]>;
  /** Services of the namespace and the API server's own (default/kubernetes), for environment variables. Waits for the initial list. */
  services(namespace: string, signal?: AbortSignal): Promise<readonly Service[]>;
  /** Notifies the listener that an object which this Pod refers to was created, changed or deleted. */
  listen(listener: (podUid: string) => void): Disposable;
}
