/** Validation of fields that depend on the operating system, and the rules of Windows Pods. */
import type { PodSpec, WindowsSecurityContextOptions } from "../../../../generated/core/v1.ts";
import { forbidden, invalid, notSupported, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { dnsSubdomain } from "./checks.ts";
import { allContainers } from "../containers.ts";

const SYSTEMS = ["linux", "windows"];
/** Maximum size of a credential spec, which is stored with the Pod; it is XML or JSON of a few kilobytes. */
const CREDENTIAL_SPEC_MAX_KIB = 64;
const DOMAIN_LENGTH_MAX = 256;
const USER_LENGTH_MAX = 104;
const CONTROL_CHARACTER = /\p{Cc}/u;
const NET_BIOS_DOMAIN = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const DNS_PART = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const DNS_DOMAIN = new RegExp(`^${DNS_PART}(?:\\.${DNS_PART})*$`);
const ONLY_DOTS_AND_SPACES = /^[. ]+$/;
const FORBIDDEN_IN_USER = /["/\\:;|=,+*?<>@[\]]/;

export function validateWindowsOptions(errors: FieldErrors, options: WindowsSecurityContextOptions, at: string): void {
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options;
  if (gmsaCredentialSpecName !== undefined) errors.addAll(dnsSubdomain(gmsaCredentialSpecName, `${at}.gmsaCredentialSpecName`));
  if (gmsaCredentialSpec !== undefined) {
    const here = `${at}.gmsaCredentialSpec`;
    if (gmsaCredentialSpec === "") errors.add(invalid(here, "", "gmsaCredentialSpec cannot be an empty string"));
    else if (gmsaCredentialSpec.length > CREDENTIAL_SPEC_MAX_KIB * 1024) {
      errors.add(invalid(here, gmsaCredentialSpec, `gmsaCredentialSpec size must be under ${CREDENTIAL_SPEC_MAX_KIB} KiB`));
    }
  }
  if (runAsUserName !== undefined) {
    for (const problem of userNameProblems(runAsUserName)) errors.add(invalid(`${at}.runAsUserName`, runAsUserName, problem));
  }
}

/** "DOMAIN\user" or "user". */
function* userNameProblems(name: string): Iterable<string> {
  if (name === "") return yield "runAsUserName cannot be an empty string";
  if (CONTROL_CHARACTER.test(name)) return yield "runAsUserName cannot contain control characters";
  const parts = name.split("\\");
  if (parts.length > 2) return yield "runAsUserName cannot contain more than one backslash";
  const user = parts.at(-1) ?? "";
  const domain = parts.length === 2 ? (parts[0] ?? "") : undefined;
  if (domain !== undefined && domain.length >= DOMAIN_LENGTH_MAX) {
    yield `runAsUserName's Domain length must be under ${DOMAIN_LENGTH_MAX} characters`;
  }
  if (domain !== undefined && !NET_BIOS_DOMAIN.test(domain) && !DNS_DOMAIN.test(domain)) {
    yield "runAsUserName's Domain doesn't match the NetBios nor the DNS format";
  }
  if (user === "") yield "runAsUserName's User cannot be empty";
  else if (user.length > USER_LENGTH_MAX) yield `runAsUserName's User length must not be longer than ${USER_LENGTH_MAX} characters`;
  if (ONLY_DOTS_AND_SPACES.test(user)) yield "runAsUserName's User cannot contain only periods or spaces";
  if (FORBIDDEN_IN_USER.test(user)) yield "runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]";
}

/** HostProcess containers: all containers of a Pod or none. */
export function validateHostProcess(errors: FieldErrors, spec: PodSpec, at: string): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = allContainers(spec, at);
  if (ofPod === undefined && containers.every(({ container }) => container.securityContext?.windowsOptions === undefined)) return;
  let onHost = 0;
  for (const { container, at: here } of containers) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.add(invalid(`${here}.securityContext.windowsOptions.hostProcess`, own, why));
    }
    if (own ?? ofPod ?? false) onHost++;
  }
  if (onHost === 0) return;
  if (onHost !== containers.length) {
    errors.add(invalid(at, "", "If pod contains any hostProcess containers then all containers must be HostProcess containers"));
  }
  if (spec.hostNetwork !== true) {
    errors.add(invalid(`${at}.hostNetwork`, false, "hostNetwork must be true if pod contains any hostProcess containers"));
  }
}

/** A Pod that names its operating system may only set fields that it supports. */
export function validateOperatingSystem(errors: FieldErrors, spec: PodSpec, at: string): void {
  if (spec.os === undefined) return;
  const { name } = spec.os;
  if (!name) return errors.add(required(`${at}.os.name`));
  if (name === "linux") validateLinux(errors, spec, at);
  else if (name === "windows") validateWindows(errors, spec, at);
  else errors.add(notSupported(`${at}.os`, name, SYSTEMS));
}

function validateLinux(errors: FieldErrors, spec: PodSpec, at: string): void {
  const why = "windows options cannot be set for a linux pod";
  if (spec.securityContext?.windowsOptions !== undefined) errors.add(forbidden(`${at}.securityContext.windowsOptions`, why));
  for (const { container, at: here } of allContainers(spec, at)) {
    if (container.securityContext?.windowsOptions !== undefined) errors.add(forbidden(`${here}.securityContext.windowsOptions`, why));
  }
}

/** In upstream's order; those of the Pod itself first. */
const NOT_OF_WINDOWS_PODS = [
  ["securityContext", "appArmorProfile"],
  ["securityContext", "seLinuxOptions"],
  ["hostUsers"],
  ["hostPID"],
  ["hostIPC"],
  ["securityContext", "seccompProfile"],
  ["securityContext", "fsGroup"],
  ["securityContext", "fsGroupChangePolicy"],
  ["securityContext", "sysctls"],
  ["shareProcessNamespace"],
  ["securityContext", "runAsUser"],
  ["securityContext", "runAsGroup"],
  ["securityContext", "supplementalGroups"],
  ["securityContext", "supplementalGroupsPolicy"],
  ["securityContext", "seLinuxChangePolicy"],
] as const;

const NOT_OF_WINDOWS_CONTAINERS = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
] as const;

function validateWindows(errors: FieldErrors, spec: PodSpec, at: string): void {
  const why = "cannot be set for a windows pod";
  const isSet = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);
  for (const path of NOT_OF_WINDOWS_PODS) {
    const value = path.length === 1 ? spec[path[0]] : spec.securityContext?.[path[1]];
    // These two are plain booleans upstream, where false equals absent.
    const isOff = (path[0] === "hostPID" || path[0] === "hostIPC") && value === false;
    if (isSet(value) && !isOff) errors.add(forbidden(`${at}.${path.join(".")}`, why));
  }
  for (const { container, at: here } of allContainers(spec, at)) {
    for (const name of NOT_OF_WINDOWS_CONTAINERS) {
      if (container.securityContext?.[name] !== undefined) errors.add(forbidden(`${here}.securityContext.${name}`, why));
    }
  }
}
