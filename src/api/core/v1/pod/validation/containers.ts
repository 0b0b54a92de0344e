/** Validation of the three kinds of containers of a Pod: common rules, and those of one kind only. */
import type {
  Container,
  ContainerPort,
  ContainerResizePolicy,
  ContainerRestartRule,
  EphemeralContainer,
  PodSpec,
} from "../../../../generated/core/v1.ts";
import { duplicate, forbidden, invalid, notFoundField, notSupported, required, tooMany } from "../../../../machinery/field-error.ts";
import { errorsOf, type FieldErrors } from "../../../../machinery/findings.ts";
import { dnsLabel, portName, portNumber } from "./checks.ts";
import { isSidecar, type AnyContainer } from "../containers.ts";
import { validateEnv, validateEnvFrom } from "./env.ts";
import { validateMounts, type VolumesByName } from "./mounts.ts";
import { validateProbesAndLifecycle } from "./probes.ts";
import { validateContainerResources } from "./resources.ts";
import { validateSecurityContext } from "./security.ts";
import { validatePullPolicy } from "./volumes.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const RESTART_POLICIES = ["Always", "Never", "OnFailure"];
const RESTART_ACTIONS = ["Restart", "RestartAllContainers"];
const EXIT_CODE_OPERATORS = ["In", "NotIn"];
const RESTART_RULES_MAX = 20;
const EXIT_CODES_MAX = 255;

/** What the rules of a container need from its Pod. */
interface Surroundings {
  readonly spec: PodSpec;
  /** The valid volumes. */
  readonly volumes: VolumesByName;
  readonly claimNames: ReadonlySet<string>;
}

export function validateAllContainers(errors: FieldErrors, spec: PodSpec, volumes: VolumesByName, at: string): void {
  const claimNames = new Set((spec.resourceClaims ?? []).map(({ name }) => name).filter((name) => name !== ""));
  const pod = { spec, volumes, claimNames };
  validateContainers(errors, spec.containers ?? [], pod, `${at}.containers`);
  if (spec.initContainers !== undefined) validateInitContainers(errors, spec.initContainers, pod, `${at}.initContainers`);
  if (spec.ephemeralContainers !== undefined)
    validateEphemeralContainers(errors, spec.ephemeralContainers, pod, `${at}.ephemeralContainers`);
}

function validateContainers(errors: FieldErrors, containers: readonly Container[], pod: Surroundings, at: string): void {
  if (containers.length === 0) return errors.add(required(at));
  const seenNames = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const here = `${at}[${index}]`;
    validateContainer(errors, container, pod, here);
    if (seenNames.has(container.name)) errors.add(duplicate(`${here}.name`, container.name));
    seenNames.add(container.name);
    validateProbesAndLifecycle(errors, container, gracePeriodOf(pod.spec), here);
    validateRestartRules(errors, container, here);
  }
  const seenHostPorts = new Set<string>();
  for (const [index, { ports }] of containers.entries()) validateHostPorts(errors, ports ?? [], seenHostPorts, `${at}[${index}].ports`);
}

function gracePeriodOf(spec: PodSpec): number {
  return spec.terminationGracePeriodSeconds ?? Infinity;
}

function validateInitContainers(errors: FieldErrors, containers: readonly Container[], pod: Surroundings, at: string): void {
  const seenNames = new Set((pod.spec.containers ?? []).map(({ name }) => name));
  for (const [index, container] of containers.entries()) {
    const here = `${at}[${index}]`;
    validateContainer(errors, container, pod, here);
    validateInitRestartRules(errors, container, here);
    if (seenNames.has(container.name)) errors.add(duplicate(`${here}.name`, container.name));
    else if (container.name) seenNames.add(container.name);
    // Init containers run in sequence and may use the same port. Upstream reports all of them with index 0.
    validateHostPorts(errors, container.ports ?? [], new Set(), `${at}[0].ports`);
    if (isSidecar(container)) validateProbesAndLifecycle(errors, container, gracePeriodOf(pod.spec), here);
    else validateRunsToItsEnd(errors, container, here);
  }
}

/** An init container that is no sidecar has no probes. */
function validateRunsToItsEnd(errors: FieldErrors, container: Container, at: string): void {
  for (const name of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
    if (container[name] !== undefined)
      errors.add(forbidden(`${at}.${name}`, "may not be set for init containers without restartPolicy=Always"));
  }
  for (const [index, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
    if (restartPolicy !== "RestartContainer") continue;
    const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    errors.add(invalid(`${at}.resizePolicy[${index}].restartPolicy`, restartPolicy, why));
  }
}

/** Ephemeral containers are added to a running Pod: no resources can be reserved for them, and nothing waits for them. */
const NOT_OF_EPHEMERAL = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
] as const;

function validateEphemeralContainers(errors: FieldErrors, containers: readonly EphemeralContainer[], pod: Surroundings, at: string): void {
  const otherNames = new Set([...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].map(({ name }) => name));
  const allNames = new Set(otherNames);
  for (const [index, container] of containers.entries()) {
    const here = `${at}[${index}]`;
    validateContainer(errors, container, pod, here);
    validateImageSpaces(errors, container, here);
    if (allNames.has(container.name)) errors.add(duplicate(`${here}.name`, container.name));
    allNames.add(container.name);
    const { targetContainerName } = container;
    if (targetContainerName && !otherNames.has(targetContainerName))
      errors.add(notFoundField(`${here}.targetContainerName`, targetContainerName));
    validateEphemeralFields(errors, container, here);
  }
}

function validateEphemeralFields(errors: FieldErrors, container: EphemeralContainer, at: string): void {
  const why = "cannot be set for an Ephemeral Container";
  for (const name of NOT_OF_EPHEMERAL) if (isGiven(name, container[name])) errors.add(forbidden(`${at}.${name}`, why));
  for (const [index, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
    if (subPath) errors.add(forbidden(`${at}.volumeMounts[${index}].subPath`, why));
    if (subPathExpr) errors.add(forbidden(`${at}.volumeMounts[${index}].subPathExpr`, why));
  }
}

/** `resources: {}` is in every container and means nothing; any other empty object was set by the client. */
function isGiven(name: string, value: object | string | undefined): boolean {
  if (value === undefined) return false;
  return name === "resources" || Array.isArray(value) ? Object.keys(value).length > 0 : true;
}

/** Rules of all containers. */
function validateContainer(errors: FieldErrors, container: AnyContainer, pod: Surroundings, at: string): void {
  const { name, image, terminationMessagePolicy, ports, env, envFrom, resources, resizePolicy, securityContext } = container;
  if (!name) errors.add(required(`${at}.name`));
  else errors.addAll(dnsLabel(name, `${at}.name`));
  if (!image) errors.add(required(`${at}.image`));
  if (!terminationMessagePolicy) errors.add(required(`${at}.terminationMessagePolicy`));
  else if (!MESSAGE_POLICIES.includes(terminationMessagePolicy)) {
    errors.add(notSupported(`${at}.terminationMessagePolicy`, terminationMessagePolicy, MESSAGE_POLICIES));
  }
  if (ports !== undefined) validatePorts(errors, ports, `${at}.ports`);
  if (env !== undefined) validateEnv(errors, env, `${at}.env`);
  if (envFrom !== undefined) validateEnvFrom(errors, envFrom, `${at}.envFrom`);
  if (container.volumeMounts !== undefined || container.volumeDevices !== undefined) validateMounts(errors, container, pod.volumes, at);
  validatePullPolicy(errors, container.imagePullPolicy, `${at}.imagePullPolicy`);
  if (resources !== undefined) validateContainerResources(errors, resources, pod.claimNames, `${at}.resources`);
  if (resizePolicy !== undefined) validateResizePolicy(errors, resizePolicy, pod.spec.restartPolicy, `${at}.resizePolicy`);
  if (securityContext !== undefined) {
    validateSecurityContext(errors, securityContext, `${at}.securityContext`, { hostUsers: pod.spec.hostUsers !== false });
  }
}

function validatePorts(errors: FieldErrors, ports: readonly ContainerPort[], at: string): void {
  const seenNames = new Set<string>();
  for (const [index, { name, containerPort, hostPort, protocol }] of ports.entries()) {
    const here = `${at}[${index}]`;
    if (name) {
      const problems = portName(name, `${here}.name`);
      if (problems.length > 0) errors.addAll(problems);
      else if (seenNames.has(name)) errors.add(duplicate(`${here}.name`, name));
      else seenNames.add(name);
    }
    if (!containerPort) errors.add(required(`${here}.containerPort`));
    else errors.addAll(portNumber(containerPort, `${here}.containerPort`));
    if (hostPort) errors.addAll(portNumber(hostPort, `${here}.hostPort`));
    if (!protocol) errors.add(required(`${here}.protocol`));
    else if (!PROTOCOLS.includes(protocol)) errors.add(notSupported(`${here}.protocol`, protocol, PROTOCOLS));
  }
}

function validateHostPorts(errors: FieldErrors, ports: readonly ContainerPort[], seen: Set<string>, at: string): void {
  for (const [index, { hostPort, hostIP, protocol }] of ports.entries()) {
    if (!hostPort) continue;
    const key = `${protocol ?? ""}/${hostIP ?? ""}/${hostPort}`;
    if (seen.has(key)) errors.add(duplicate(`${at}[${index}].hostPort`, key));
    seen.add(key);
  }
}

const RESIZED_RESOURCES = ["cpu", "memory"];
const RESIZE_POLICIES = ["NotRequired", "RestartContainer"];

function validateResizePolicy(
  errors: FieldErrors,
  policies: readonly ContainerResizePolicy[],
  podPolicy: string | undefined,
  at: string,
): void {
  const seen = new Set<string>();
  for (const [index, { resourceName = "", restartPolicy = "" }] of policies.entries()) {
    if (seen.has(resourceName)) errors.add(duplicate(`${at}[${index}]`, resourceName));
    seen.add(resourceName);
    if (resourceName === "") errors.add(required(at));
    else if (!RESIZED_RESOURCES.includes(resourceName)) errors.add(notSupported(at, resourceName, RESIZED_RESOURCES));
    if (restartPolicy === "") errors.add(required(at));
    else if (!RESIZE_POLICIES.includes(restartPolicy)) errors.add(notSupported(at, restartPolicy, RESIZE_POLICIES));
    if (podPolicy === "Never" && restartPolicy !== "NotRequired") {
      errors.add(invalid(at, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
  }
}

/** Per-container restart policy and rules. */
function validateRestartRules(errors: FieldErrors, { restartPolicy, restartPolicyRules: rules = [] }: Container, at: string): void {
  if (restartPolicy === undefined && rules.length === 0) return;
  if (restartPolicy === undefined) errors.add(required(`${at}.restartPolicy`, "must specify restartPolicy when restart rules are used"));
  else if (!RESTART_POLICIES.includes(restartPolicy)) errors.add(notSupported(`${at}.restartPolicy`, restartPolicy, RESTART_POLICIES));
  if (rules.length > RESTART_RULES_MAX) errors.add(tooMany(`${at}.restartPolicyRules`, rules.length, RESTART_RULES_MAX));
  for (const [index, rule] of rules.entries()) validateRestartRule(errors, rule, `${at}.restartPolicyRules[${index}]`);
}

/** For restart rules of an init container without a policy upstream reports no more than that. */
function validateInitRestartRules(errors: FieldErrors, container: Container, at: string): void {
  const [first, ...rest] = errorsOf((own) => validateRestartRules(own, container, at));
  if (first !== undefined) errors.add(first);
  if (container.restartPolicy !== undefined) errors.addAll(rest);
}

function validateRestartRule(errors: FieldErrors, { action, exitCodes }: ContainerRestartRule, at: string): void {
  if (!RESTART_ACTIONS.includes(action)) errors.add(notSupported(`${at}.action`, action ?? "", RESTART_ACTIONS));
  if (exitCodes === undefined) return errors.add(required(`${at}.exitCodes`, "must be specified"));
  const { operator, values = [] } = exitCodes;
  if (!EXIT_CODE_OPERATORS.includes(operator)) errors.add(notSupported(`${at}.exitCodes.operator`, operator ?? "", EXIT_CODE_OPERATORS));
  if (values.length > EXIT_CODES_MAX) errors.add(tooMany(`${at}.exitCodes.values`, values.length, EXIT_CODES_MAX));
}

/** Only for Pods: templates with such images exist, and fail when their Pods are created. */
export function validateImageSpaces(errors: FieldErrors, { image = "" }: AnyContainer, at: string): void {
  if (image.trim() !== image) errors.add(invalid(`${at}.image`, image, "must not have leading or trailing whitespace"));
}
