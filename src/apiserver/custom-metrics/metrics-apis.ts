/** The built-in source of custom and external metrics: disabled by default, since an adapter may serve the same groups by aggregation. */
import type { DynamicApiFactory } from "../framework/server-context.ts";
import { customMetricsApi } from "./custom-metrics-api.ts";
import { externalMetricsApi } from "./external-metrics-api.ts";
import { MetricNames } from "./metric-request.ts";

export const metricsApis: DynamicApiFactory = (server) => {
  if (!server.config.podMetricsApis) return [];
  const names = new MetricNames(server);
  return [customMetricsApi(server, "v1beta2", names), customMetricsApi(server, "v1beta1", names), externalMetricsApi(names)];
};
