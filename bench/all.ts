/** All benchmarks, in the order in which they run. One more: a file that exports a Benchmark, and its line here. */
import type { Benchmark } from "./benchmark.ts";
import { apiserverGrowth } from "./apiserver/growth.ts";
import { apiserverLists } from "./apiserver/lists.ts";
import { apiserverProcessorTime } from "./apiserver/processor-time.ts";
import { apiserverStages } from "./apiserver/stages.ts";
import { apiserverReadWorkers } from "./apiserver/read-workers.ts";
import { apiserverRequests } from "./apiserver/requests.ts";
import { apiserverWatchers } from "./apiserver/watchers.ts";
import { browserPage } from "./browser/browser.ts";
import { clusterLarge, clusterStarts } from "./cluster/cluster.ts";
import { clusterLimits } from "./cluster/limits.ts";
import { clusterTestControl } from "./cluster/test-control.ts";
import { controllers } from "./controllers/controllers.ts";
import { controllerAutoscalers } from "./controllers/autoscalers.ts";
import { controllerJobs } from "./controllers/jobs.ts";
import { controllerSets } from "./controllers/sets.ts";
import { dashboardCauses } from "./dashboard/causes.ts";
import { dashboardPage } from "./dashboard/dashboard.ts";
import { extensionCel } from "./extension/cel.ts";
import { customResources } from "./extension/custom-resources.ts";
import { extensionAdmission } from "./extension/admission.ts";
import { extensionHostile } from "./extension/hostile.ts";
import { gate } from "./gate/gate.ts";
import { networkApp } from "./network/app.ts";
import { networkDns } from "./network/dns.ts";
import { ingressRequests } from "./network/ingress.ts";
import { networkServiceChanges } from "./network/service-changes.ts";
import { networkServiceTraffic } from "./network/service-traffic.ts";
import { schedulerBenchmarks } from "./scheduler/scheduler.ts";
import { storageBenchmarks } from "./storage/storage.ts";
import { storeCommits } from "./store/commits.ts";
import { storeEtcd } from "./store/etcd.ts";
import { storeLarge } from "./store/large.ts";
import { storeWatchers } from "./store/watchers.ts";
import { upContainerd, upSimulated } from "./up/up.ts";

export const all: readonly Benchmark[] = [
  storeCommits,
  storeWatchers,
  storeLarge,
  storeEtcd,
  apiserverRequests,
  apiserverProcessorTime,
  apiserverStages,
  apiserverLists,
  apiserverWatchers,
  apiserverReadWorkers,
  apiserverGrowth,
  customResources,
  gate,
  extensionAdmission,
  controllers,
  controllerJobs,
  controllerSets,
  controllerAutoscalers,
  extensionCel,
  extensionHostile,
  ...schedulerBenchmarks,
  ...storageBenchmarks,
  networkApp,
  networkDns,
  ingressRequests,
  networkServiceChanges,
  networkServiceTraffic,
  clusterStarts,
  clusterLarge,
  clusterLimits,
  clusterTestControl,
  browserPage,
  dashboardPage,
  dashboardCauses,
  upSimulated,
  upContainerd,
];
