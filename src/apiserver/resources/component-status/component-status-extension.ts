/** ComponentStatus: whether the store answers, by the name that upstream gives it. Other components tell of themselves by their leases. */
import { storeAnswers } from "../../store-health.ts";
import type { ComponentStatus } from "../../../api/generated/core/v1.ts";
import type { ExtensionFactory } from "../../extension.ts";

export const componentStatusExtension: ExtensionFactory = ({ store, clock }) => ({
  group: "",
  plural: "componentstatuses",
  async objects() {
    const isHealthy = await storeAnswers(store, clock);
    const condition = isHealthy
      ? { type: "Healthy", status: "True", message: "ok" }
      : { type: "Healthy", status: "False", message: "the store does not answer" };
    const etcd: ComponentStatus = { apiVersion: "v1", kind: "ComponentStatus", metadata: { name: "etcd-0" }, conditions: [condition] };
    return [etcd];
  },
});
