/**
 * The ConfigMaps, Secrets and Services that Pods of this node refer to, kept up to date while they do: a node may see no others, so each is
 * watched by its name, once, for as long as a Pod needs it. The contract; object-references.ts fills it.
 */
import type { ConfigMap, Pod, Secret, Service } from "../../api/generated/core/v1.ts";

export interface References extends AsyncDisposable {
  /** From now on what the Pod refers to is watched. Of a Pod that was told before, what it refers to now counts. */
  register(pod: Pod): void;
  unregister(podUid: string): void;
  /** Undefined if there is none. Waits until it is known; rejects if the API cannot say. */
  configMap(namespace: string, name: string, signal?: AbortSignal): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string, signal?: AbortSignal): Promise<Secret | undefined>;
  /** Of the namespace and the master's own (default/kubernetes): for environment variables. Waits until they are known. */
  services(namespace: string, signal?: AbortSignal): Promise<readonly Service[]>;
  /** Told that something which this Pod refers to has changed, appeared or gone. */
  listen(listener: (podUid: string) => void): Disposable;
}
