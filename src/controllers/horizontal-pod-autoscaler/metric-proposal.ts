/** What one metric of an autoscaler proposes: a number of replicas and the current values for the status, or why it has none. */
import type { Pod } from "../../api/generated/core/v1.ts";
import type {
  HorizontalPodAutoscaler,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from "../../api/generated/autoscaling/v2.ts";
import { formatQuantity, milliQuantityOf, parseQuantity, quantityToNumber } from "../../api/machinery/quantity.ts";
import { groupResourceOf } from "../../api/machinery/object.ts";
import { labelSelectorFromObject, type LabelSelectorObject } from "../../api/machinery/selectors/label-selector.ts";
import type { Client } from "../../client/client.ts";
import { goSelectorText } from "../shared/go-selector-text.ts";
import { milliOf, readExternalValue, readObjectValue, readPodSamples, readResourceSamples } from "./metric-readings.ts";
import {
  averageReplicas,
  MetricError,
  requestsOf,
  sharedValueReplicas,
  utilizationReplicas,
  valueReplicas,
  type PodMetricInput,
  type Tolerances,
} from "./replica-calculator.ts";
import type { ScaleTargets } from "./scale-target.ts";
import type { HorizontalPodAutoscalerSettings } from "./settings.ts";

export interface MetricContext {
  readonly client: Client;
  readonly targets: ScaleTargets;
  readonly autoscaler: HorizontalPodAutoscaler;
  readonly specReplicas: number;
  readonly statusReplicas: number;
  /** Of the scaled Pods, as text. */
  readonly selector: string;
  readonly pods: readonly Pod[];
  readonly settings: HorizontalPodAutoscalerSettings;
  readonly nowMs: number;
}

export interface Proposal {
  readonly replicas: number;
  /** Of the metric, in messages. */
  readonly name: string;
  readonly status: MetricStatus;
}

export interface ProposalFailure {
  /** Of the event and the condition. */
  readonly reason: string;
  readonly message: string;
  /** In the error of all metrics together. */
  readonly context: string;
}

export type ProposalResult =
  | { readonly is: "proposed"; readonly proposal: Proposal }
  | { readonly is: "failed"; readonly failure: ProposalFailure };

/** Rejects only with errors that are no failures of the metric. */
export async function proposalOf(metric: MetricSpec, context: MetricContext): Promise<ProposalResult> {
  const { reason, title, propose } = sourceOf(metric, context);
  try {
    return { is: "proposed", proposal: await propose() };
  } catch (error) {
    if (!(error instanceof MetricError)) throw error;
    return { is: "failed", failure: { reason, message: error.message, context: `failed to get ${title}: ${error.message}` } };
  }
}

interface Source {
  readonly reason: string;
  readonly title: string;
  propose(): Promise<Proposal>;
}

function sourceOf(metric: MetricSpec, context: MetricContext): Source {
  const { resource, containerResource, pods, object, external } = metric;
  if (metric.type === "Resource" && resource !== undefined) {
    const propose = async (): Promise<Proposal> => {
      const { value, ...rest } = await proposeResource(resource.name, "", resource.target, context);
      return { ...rest, status: { type: metric.type, resource: { name: resource.name, current: value } } };
    };
    return { reason: "FailedGetResourceMetric", title: `${resource.name} resource metric value`, propose };
  }
  if (metric.type === "ContainerResource" && containerResource !== undefined) {
    const { name, container, target } = containerResource;
    const propose = async (): Promise<Proposal> => {
      const { value, ...rest } = await proposeResource(name, container, target, context);
      return { ...rest, status: { type: metric.type, containerResource: { name, container, current: value } } };
    };
    return { reason: "FailedGetContainerResourceMetric", title: `${container} container metric value`, propose };
  }
  if (metric.type === "Pods" && pods !== undefined)
    return { reason: "FailedGetPodsMetric", title: "pods metric value", propose: () => proposePods(pods, context) };
  if (metric.type === "Object" && object !== undefined)
    return { reason: "FailedGetObjectMetric", title: "object metric value", propose: () => proposeObject(object, context) };
  if (metric.type === "External" && external !== undefined)
    return {
      reason: "FailedGetExternalMetric",
      title: `${external.metric.name} external metric value`,
      propose: () => proposeExternal(external, context),
    };
  const unknown = new MetricError(`unknown metric source type ${JSON.stringify(metric.type)}`);
  return { reason: "InvalidMetricSourceType", title: "metric value", propose: () => Promise.reject(unknown) };
}

// ── resources ───────────────────────────────────────────────────────────────────────────────────────

type ResourceProposal = Omit<Proposal, "status"> & { readonly value: MetricValueStatus };

async function proposeResource(
  resource: string,
  container: string,
  target: MetricTarget,
  context: MetricContext,
): Promise<ResourceProposal> {
  const { averageValue, averageUtilization } = target;
  if (averageValue === undefined && averageUtilization === undefined)
    throw new MetricError(
      "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set",
    );
  const what = averageValue === undefined ? "utilization" : "usage";
  return prefixed(`failed to get ${resource} ${what}`, async () => {
    const input = await resourceInput(resource, container, context);
    if (averageValue !== undefined) {
      const { replicas, average } = averageReplicas(input, milliOf(averageValue));
      return { replicas, name: `${resource} resource`, value: { averageValue: amountText(resource, average) } };
    }
    const readRequests = () => requestsOf(context.pods, { resource, container, amountOf: milliOf });
    const { replicas, average, utilization } = utilizationReplicas(input, readRequests, averageUtilization ?? 0);
    const name = `${resource} ${container === "" ? "" : "container "}resource utilization (percentage of request)`;
    return { replicas, name, value: { averageUtilization: utilization, averageValue: amountText(resource, average) } };
  });
}

async function resourceInput(resource: string, container: string, context: MetricContext): Promise<PodMetricInput> {
  const { client, autoscaler, selector } = context;
  const namespace = autoscaler.metadata.namespace ?? "";
  const samples = await prefixed(`unable to get metrics for resource ${resource}`, () =>
    readResourceSamples(client, { namespace, selector, resource, container }),
  );
  return inputOf(context, samples, resource);
}

function inputOf(context: MetricContext, samples: PodMetricInput["samples"], resource: string): PodMetricInput {
  const { specReplicas, pods, settings, nowMs } = context;
  return { currentReplicas: specReplicas, pods, samples, tolerances: tolerancesOf(context), rules: { ...settings, resource, nowMs } };
}

/** As metrics-server writes it: binary units for memory. */
function amountText(resource: string, milli: number): string {
  return formatQuantity(milliQuantityOf(milli, resource === "memory" ? "BinarySI" : "DecimalSI"));
}

// ── custom and external metrics ─────────────────────────────────────────────────────────────────────

async function proposePods({ metric, target }: NonNullable<MetricSpec["pods"]>, context: MetricContext): Promise<Proposal> {
  const { client, autoscaler, selector } = context;
  const samples = await prefixed(`unable to get metric ${metric.name}`, () =>
    readPodSamples(client, { ...readingOf(autoscaler, metric), selector }),
  );
  const { replicas, average } = averageReplicas(inputOf(context, samples, ""), milliOf(target.averageValue ?? "0"));
  const status: MetricStatus = { type: "Pods", pods: { metric: identifierOf(metric), current: { averageValue: milliText(average) } } };
  return { replicas, name: `pods metric ${metric.name}`, status };
}

async function proposeObject(source: NonNullable<MetricSpec["object"]>, context: MetricContext): Promise<Proposal> {
  const { metric, target, describedObject } = source;
  const { value: targetValue, averageValue } = target;
  const isValue = target.type === "Value" && targetValue !== undefined;
  if (!isValue && !(target.type === "AverageValue" && averageValue !== undefined))
    throw new MetricError("invalid object metric source: neither a value target nor an average value target was set");
  const namespace = context.autoscaler.metadata.namespace ?? "";
  const read = () =>
    prefixed(`unable to get metric ${metric.name} on ${describedObject.kind} ${namespace}/${describedObject.name}`, async () => {
      const { plural, storage } = await context.targets.kindOf(context.client, describedObject).catch((error: unknown) => {
        throw new MetricError(`unable to fetch metrics from custom metrics API: ${error instanceof Error ? error.message : String(error)}`);
      });
      const reading = {
        plural: groupResourceOf(storage.group, plural),
        name: describedObject.name,
        ...readingOf(context.autoscaler, metric),
      };
      return readObjectValue(context.client, reading);
    });
  const object = { metric: identifierOf(metric), describedObject };
  if (isValue) {
    const value = await read();
    const replicas = valueReplicas(
      { ...context, currentReplicas: context.specReplicas, tolerances: tolerancesOf(context) },
      value,
      milliOf(targetValue),
    );
    const status: MetricStatus = { type: "Object", object: { ...object, current: { value: milliText(value) } } };
    return { replicas, name: `${describedObject.kind} metric ${metric.name}`, status };
  }
  const value = await prefixed(`failed to get ${metric.name} object metric`, read);
  const { replicas, average } = sharedValueReplicas({ ...context, tolerances: tolerancesOf(context) }, value, milliOf(averageValue ?? "0"));
  const status: MetricStatus = { type: "Object", object: { ...object, current: { averageValue: milliText(average) } } };
  return { replicas, name: externalName(metric), status };
}

async function proposeExternal({ metric, target }: NonNullable<MetricSpec["external"]>, context: MetricContext): Promise<Proposal> {
  const { client, autoscaler } = context;
  const { value: targetValue, averageValue } = target;
  const namespace = autoscaler.metadata.namespace ?? "";
  if (averageValue === undefined && targetValue === undefined)
    throw new MetricError("invalid external metric source: neither a value target nor an average value target was set");
  const isShared = averageValue !== undefined;
  const value = await prefixed(
    isShared ? `failed to get ${metric.name} external metric` : `failed to get external metric ${metric.name}`,
    () =>
      prefixed(`unable to get external metric ${namespace}/${metric.name}/${goSelectorText(metric.selector)}`, () =>
        readExternalValue(client, { namespace, metric: metric.name, selector: formatSelector(metric.selector) }),
      ),
  );
  const tolerances = tolerancesOf(context);
  const statusOf = (current: MetricValueStatus): MetricStatus => ({
    type: "External",
    external: { metric: identifierOf(metric), current },
  });
  if (isShared) {
    const { replicas, average } = sharedValueReplicas({ ...context, tolerances }, value, milliOf(averageValue));
    return { replicas, name: externalName(metric), status: statusOf({ averageValue: milliText(average) }) };
  }
  const replicas = valueReplicas({ ...context, currentReplicas: context.specReplicas, tolerances }, value, milliOf(targetValue ?? "0"));
  return { replicas, name: externalName(metric), status: statusOf({ value: milliText(value) }) };
}

function readingOf({ metadata }: HorizontalPodAutoscaler, { name, selector }: MetricIdentifier) {
  return { namespace: metadata.namespace ?? "", metric: name, metricSelector: formatSelector(selector) };
}

function identifierOf({ name, selector }: MetricIdentifier): MetricIdentifier {
  return { name, ...(selector === undefined ? {} : { selector }) };
}

function externalName({ name, selector }: MetricIdentifier): string {
  return `external metric ${name}(${goSelectorText(selector)})`;
}

function formatSelector(selector: LabelSelectorObject | undefined): string {
  return selector === undefined ? "" : labelSelectorFromObject(selector).toString();
}

function milliText(milli: number): string {
  return formatQuantity(milliQuantityOf(milli));
}

// ── shared ──────────────────────────────────────────────────────────────────────────────────────────

function tolerancesOf({ autoscaler, settings }: MetricContext): Tolerances {
  const { scaleUp, scaleDown } = autoscaler.spec.behavior ?? {};
  const number = (text: string | undefined): number => (text === undefined ? settings.tolerance : quantityToNumber(parseQuantity(text)));
  return { scaleUp: number(scaleUp?.tolerance), scaleDown: number(scaleDown?.tolerance) };
}

async function prefixed<T>(prefix: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof MetricError)) throw error;
    throw new MetricError(`${prefix}: ${error.message}`);
  }
}
