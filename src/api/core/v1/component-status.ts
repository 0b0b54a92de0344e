/**
 * core/v1 ComponentStatus: health of a control plane component. Computed, never stored; deprecated upstream, so requests get a warning. Not
 * here: the components (apiserver/resources/component-status).
 */
import type { ComponentStatus } from "../../generated/core/v1.ts";
import { nameColumn, textColumn } from "../../machinery/columns.ts";
import { findCondition } from "../../machinery/conditions.ts";
import { defineResource } from "../../machinery/resource.ts";

export const componentStatuses = defineResource<ComponentStatus>({
  kind: "ComponentStatus",
  plural: "componentstatuses",
  singular: "componentstatus",
  shortNames: ["cs"],
  scope: "Cluster",
  served: [
    { group: "", version: "v1", schema: "io.k8s.api.core.v1.ComponentStatus", deprecation: "v1 ComponentStatus is deprecated in v1.19+" },
  ],
  stored: false,
  verbs: ["get", "list"],

  columns: [
    nameColumn,
    textColumn("Status", "Health status", (status) => healthText(healthOf(status)?.status)),
    textColumn("Message", "Health message", (status) => healthOf(status)?.message ?? ""),
    textColumn("Error", "Error of the health check", (status) => healthOf(status)?.error ?? ""),
  ],
});

function healthOf({ conditions }: ComponentStatus) {
  return findCondition(conditions, "Healthy");
}

function healthText(status: string | undefined): string {
  if (status === undefined) return "Unknown";
  return status === "True" ? "Healthy" : "Unhealthy";
}
