/**
 * Descriptions of the built-in types, for people. The text is large and rarely needed, so it is a parameter: the OpenAPI documents load
 * generated/descriptions.ts on first use.
 */

/** Format of the generated text, which tools/generate/descriptions.ts writes. */
export interface DescriptionData {
  /** Shared descriptions of apiVersion and kind. */
  readonly apiVersion: string;
  readonly kind: string;
  /** By OpenAPI name. */
  readonly types: Readonly<Record<string, TypeDescription>>;
}

export interface TypeDescription {
  readonly description: string;
  /** By field; absent for apiVersion and kind, and for a field without a description. */
  readonly fields: Readonly<Record<string, string>>;
  /** Lists without a declared merge strategy upstream: they are atomic, and documents omit it. */
  readonly undeclaredLists?: readonly string[];
  /** One of the members is set, and the field `discriminator` (if there is one) names it: x-kubernetes-unions. */
  readonly union?: { readonly discriminator?: string; readonly members: readonly string[] };
}

export interface Descriptions {
  ofType(name: string): TypeDescription | undefined;
  /** "" if the type has no description. */
  ofField(typeName: string, field: string): string;
}

export function parseDescriptions(descriptionData: string): Descriptions {
  const data = JSON.parse(descriptionData) as DescriptionData;
  const types = new Map(Object.entries(data.types));
  return {
    ofType: (name) => types.get(name),

    ofField(typeName, field) {
      const own = types.get(typeName)?.fields;
      if (own !== undefined && Object.hasOwn(own, field)) return own[field] ?? "";
      return field === "apiVersion" || field === "kind" ? data[field] : "";
    },
  };
}
