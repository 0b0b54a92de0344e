/** Handlers are tried in this order; no two serve the same path. */
import type { DocumentFactory } from "../framework/document.ts";
import { causesDocument } from "./causes/causes.ts";
import { discoveryDocument } from "./discovery/discovery.ts";
import { fairnessDocument } from "./fairness/fairness.ts";
import { healthDocument } from "./health.ts";
import { historyDocument } from "./history/history.ts";
import { indexDocument } from "./index-page.ts";
import { metricsDocument } from "./metrics/metrics.ts";
import { openIdDocument } from "./openid/openid.ts";
import { openApiV2Document } from "./openapi/openapi-v2.ts";
import { openApiV3Document } from "./openapi/openapi-v3.ts";
import { versionDocument } from "./version.ts";

export const all: readonly DocumentFactory[] = [
  indexDocument,
  discoveryDocument,
  openApiV3Document,
  openApiV2Document,
  versionDocument,
  healthDocument,
  metricsDocument,
  openIdDocument,
  causesDocument,
  historyDocument,
  fairnessDocument,
];
