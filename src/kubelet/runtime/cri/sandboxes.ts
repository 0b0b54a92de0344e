/**
 * Runs, stops and removes sandboxes. A Pod may have several, of which only the newest may be ready; operations on it apply to the earlier
 * ones as well, since the kubelet treats them as one.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { Logger } from "../../../base/logger.ts";
import { makeLogDirectory, removeLogDirectory } from "../../../host/files/log-files.ts";
import type { SandboxRun } from "../../contracts/container-run.ts";
import { RuntimeError, type SandboxStatus } from "../../contracts/runtime.ts";
import { mapOf } from "./messages/common.ts";
import { isNotFound, type CriClient } from "./cri-client.ts";
import { LOG_DIRECTORY } from "./labels.ts";
import { uidOf, type PodViews } from "./pod-views.ts";
import { sandboxMessage } from "./messages/run.ts";
import { removePodSandbox, runPodSandbox, SANDBOX_READY, stopPodSandbox, type ListedSandbox } from "./messages/sandbox.ts";

export interface SandboxesOptions {
  readonly client: CriClient;
  readonly views: PodViews;
  readonly owner: string;
  readonly log: Logger;
}

export class Sandboxes {
  readonly #options: SandboxesOptions;

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  async run(pod: Pod, run: SandboxRun): Promise<SandboxStatus> {
    const { client, views, owner } = this.#options;
    const podUid = pod.metadata.uid ?? "";
    const before = await views.sandboxes(podUid);
    if (before[0]?.state !== SANDBOX_READY) {
      await makeLogDirectory(run.logDirectory);
      const attempt = before.length === 0 ? 0 : 1 + Math.max(...before.map(({ metadata }) => metadata?.attempt ?? 0));
      await client.call(runPodSandbox, { config: sandboxMessage(pod, run, { attempt, owner }), runtimeHandler: run.runtimeHandler });
      await this.#removeEmpty(before);
    }
    const status = await views.status(podUid);
    if (status !== undefined) return status;
    throw new RuntimeError("CannotRun", `Cannot find the sandbox of Pod ${pod.metadata.namespace}/${pod.metadata.name} that was just run`);
  }

  async stop(id: string): Promise<void> {
    const { client } = this.#options;
    for (const sandbox of await this.#upTo(id)) {
      if (sandbox.id === id || sandbox.state === SANDBOX_READY) await unlessGone(client.call(stopPodSandbox, { id: sandbox.id }));
    }
  }

  async remove(id: string): Promise<void> {
    const sandboxes = await this.#upTo(id);
    const [newest] = sandboxes;
    if (newest === undefined) return;
    // Oldest first, and the logs before the last of them: the last sandbox identifies the Pod and its logs.
    for (const sandbox of sandboxes.slice(1).toReversed()) await this.#removeOne(sandbox.id);
    const all = await this.#options.views.sandboxes(uidOf(newest));
    if (all.every(({ id: other }) => other === newest.id)) await removeLogs(newest);
    await this.#removeOne(newest.id);
  }

  /** This one and the earlier ones of its Pod, newest first; empty if it does not exist. */
  async #upTo(id: string): Promise<readonly ListedSandbox[]> {
    const { views } = this.#options;
    const found = await views.sandbox(id);
    if (found === undefined) return [];
    const all = await views.sandboxes(uidOf(found));
    const at = all.findIndex((sandbox) => sandbox.id === id);
    return at === -1 ? [found] : all.slice(at);
  }

  async #removeOne(id: string): Promise<void> {
    const { client } = this.#options;
    await unlessGone(client.call(stopPodSandbox, { id }));
    await unlessGone(client.call(removePodSandbox, { id }));
  }

  /** Those without containers. */
  async #removeEmpty(sandboxes: readonly ListedSandbox[]): Promise<void> {
    const [newest] = sandboxes;
    if (newest === undefined) return;
    try {
      const used = new Set((await this.#options.views.containers(uidOf(newest))).map(({ sandboxId }) => sandboxId));
      for (const { id } of sandboxes) if (!used.has(id)) await this.#removeOne(id);
    } catch (error) {
      // They are removed with the Pod in any case.
      this.#options.log.debug("Cannot remove the old sandboxes of a Pod", { error });
    }
  }
}

async function unlessGone(operation: Promise<unknown>): Promise<void> {
  try {
    await operation;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Only a directory with the Pod's name: an annotation must not cause the removal of another. */
async function removeLogs(sandbox: ListedSandbox): Promise<void> {
  const directory = mapOf(sandbox.annotations).get(LOG_DIRECTORY) ?? "";
  const uid = uidOf(sandbox);
  if (directory.startsWith("/") && uid !== "" && directory.endsWith(uid)) await removeLogDirectory(directory);
}
