/** Validation of paths inside of volumes and containers: none may escape its root. */
import type { KeyToPath } from "../../../../generated/core/v1.ts";
import { invalid, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";

/** No path element is "..". Reported once, however often it occurs. */
export function validateNoBacksteps(errors: FieldErrors, path: string, at: string): void {
  if (hasBacksteps(path)) errors.add(invalid(at, path, "must not contain '..'"));
}

export function hasBacksteps(path: string): boolean {
  return path.includes("..") && path.split("/").includes("..");
}

/** A relative path that descends from its root. */
export function validateDescendingPath(errors: FieldErrors, path: string, at: string): void {
  if (path.startsWith("/")) errors.add(invalid(at, path, "must be a relative path"));
  validateNoBacksteps(errors, path, at);
}

/** A file in a volume that the kubelet writes: names that begin with ".." are reserved for the kubelet. */
export function validateWrittenPath(errors: FieldErrors, path: string, at: string): void {
  validateDescendingPath(errors, path, at);
  if (path.startsWith("..") && !path.startsWith("../")) errors.add(invalid(at, path, "must not start with '..'"));
}

const FILE_MODE_MAX = 0o777;

export function validateFileMode(errors: FieldErrors, mode: number | undefined, at: string): void {
  if (mode !== undefined && (mode < 0 || mode > FILE_MODE_MAX)) {
    errors.add(invalid(at, mode, "must be a number between 0 and 0777 (octal), both inclusive"));
  }
}

/** One key of a Secret or ConfigMap and its file. */
export function validateKeyToPath(errors: FieldErrors, { key, path, mode }: KeyToPath, at: string): void {
  if (!key) errors.add(required(`${at}.key`));
  if (!path) errors.add(required(`${at}.path`));
  validateWrittenPath(errors, path ?? "", `${at}.path`);
  validateFileMode(errors, mode, `${at}.mode`);
}
