/** Replaces scheduler and kubelets in tests: every Pod runs and is ready at once. Pods are not bound, so that they end when deleted. */
import { pods } from "../../../api/core/v1/pod.ts";
import { isReady, isTerminal } from "../../../api/core/v1/pod/readiness.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { defineController, onChange, watch, type Controller } from "../../runtime/controller.ts";
import { itself } from "../../runtime/keys.ts";

/** `isBroken`: Pods that run, but never become ready. Default: none. */
export function obedientPods(isBroken: (pod: Pod) => boolean = () => false): Controller {
  return defineController({
    name: "obedient-pods",
    account: "generic-garbage-collector",
    rules: [
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["pods/status"], verbs: ["update"] },
    ],
    watches: [watch(pods, itself)],
    async reconcile(key, { read, write, clock }) {
      const pod = read.get(pods, key);
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod)) return onChange;
      const shouldBeReady = !isBroken(pod);
      if (pod.status?.phase === "Running" && isReady(pod) === shouldBeReady) return onChange;
      const ready = { type: "Ready", status: shouldBeReady ? "True" : "False", lastTransitionTime: formatTime(clock.now()) };
      try {
        await write.updateStatus(pods, { ...pod, status: { ...pod.status, phase: "Running", conditions: [ready] } });
      } catch (error) {
        if (!isReason(error, "NotFound")) throw error;
      }
      return onChange;
    },
  });
}
