/** Validation of paths inside of volumes and containers: none may escape its root. */
import type { KeyToPath } from "../../../../generated/core/v1.ts";
import { invalid, required, type FieldError } from "../../../../machinery/field-error.ts";

/** No path element is "..". Reported once, however often it occurs. */
export function* validateNoBacksteps(path: string, at: string): Iterable<FieldError> {
  if (hasBacksteps(path)) yield invalid(at, path, "must not contain '..'");
}

export function hasBacksteps(path: string): boolean {
  return path.includes("..") && path.split("/").includes("..");
}

/** A relative path that descends from its root. */
export function* validateDescendingPath(path: string, at: string): Iterable<FieldError> {
  if (path.startsWith("/")) yield invalid(at, path, "must be a relative path");
  yield* validateNoBacksteps(path, at);
}

/** A file in a volume that the kubelet writes: names that begin with ".." are reserved for the kubelet. */
export function* validateWrittenPath(path: string, at: string): Iterable<FieldError> {
  yield* validateDescendingPath(path, at);
  if (path.startsWith("..") && !path.startsWith("../")) yield invalid(at, path, "must not start with '..'");
}

const FILE_MODE_MAX = 0o777;

export function* validateFileMode(mode: number | undefined, at: string): Iterable<FieldError> {
  if (mode !== undefined && (mode < 0 || mode > FILE_MODE_MAX)) {
    yield invalid(at, mode, "must be a number between 0 and 0777 (octal), both inclusive");
  }
}

/** One key of a Secret or ConfigMap and its file. */
export function* validateKeyToPath({ key, path, mode }: KeyToPath, at: string): Iterable<FieldError> {
  if (!key) yield required(`${at}.key`);
  if (!path) yield required(`${at}.path`);
  yield* validateWrittenPath(path ?? "", `${at}.path`);
  yield* validateFileMode(mode, `${at}.mode`);
}
