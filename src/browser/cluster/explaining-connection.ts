/** The connection of pages to a cluster in the same tab, with the answer of `k8ts why` that a server gives elsewhere. */
import { isStatusError, StatusError } from "../../api/machinery/status-error.ts";
import type { ClusterConnection } from "../../dashboard/data/connection.ts";
import { errorResponse, jsonResponse } from "../../dashboard/data/fixed-response.ts";
import { WHY_PATH } from "../../dashboard/data/paths.ts";
import { explainObject } from "../../explain/live/explain-object.ts";
import type { CopyCluster } from "../../explain/live/try-remedies.ts";
import type { TabCluster } from "./tab-cluster.ts";

type ExplainedCluster = Pick<TabCluster, "connection" | "client" | "clock">;

export function explainingConnection({ connection, client, clock }: ExplainedCluster, copyCluster: CopyCluster): ClusterConnection {
  return {
    ...connection,
    async send(request) {
      const [path = "", query] = request.path.split("?");
      if (path !== WHY_PATH) return connection.send(request);
      const parameters = new URLSearchParams(query);
      const text = (name: string) => parameters.get(name) ?? "";
      const subject = { resource: text("resource"), namespace: text("namespace"), name: text("name") };
      const at = parameters.get("at") ?? undefined;
      const tried = text("try") === "true" ? { copyCluster } : {};
      try {
        return jsonResponse(await explainObject(subject, { client, nowMs: clock.now(), at, ...tried }));
      } catch (error) {
        return errorResponse(isStatusError(error) ? error : new StatusError("InternalError", (error as Error).message, { cause: error }));
      }
    },
  };
}
