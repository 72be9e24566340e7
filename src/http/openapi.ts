import swagger from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import type { App } from './app.ts';
import { errorExamplesOf } from './error-examples.ts';
import { errorEnvelopeSchema } from './errors.ts';

export type OpenApiOptions = {
  /** Which routes the document holds; every document is registered on the root. */
  prefix: string;
  title: string;
  description: string;
  version: string;
  /** Name of the security scheme and what its token is. */
  bearer: { name: string; description: string };
  /** Where the document is served, and the function on the instance that makes it. */
  path: string;
  decorator: 'publicApi' | 'operatorApi';
  /** The statuses of errors the routes may answer with, and what each means; unless they are those of the public API. */
  errors?: Record<number, string>;
};

declare module 'fastify' {
  interface FastifyInstance {
    publicApi: () => object;
    operatorApi: () => object;
  }
}

const publicErrors: Record<number, string> = {
  400: 'The request is not valid; `error.param` names what to mend.',
  401: 'The key is missing, unknown, revoked or expired.',
  402: 'The balance does not cover the message.',
  403: 'The key lacks the permission, the address is not on its allow-list, or the account is suspended.',
  404: 'There is no such resource.',
  429: 'A limit of the key is exceeded; `Retry-After` tells when to come back.',
  500: 'No provider could take the message, or something went wrong on our side.',
};

function errorStatusesOf({ method, schema, config }: RouteOptions): number[] {
  const takesInput = method === 'POST' || schema?.querystring !== undefined;
  return [
    ...(takesInput ? [400] : []),
    401,
    ...(config?.sends === true ? [402] : []),
    403,
    ...(schema?.params !== undefined || method === 'DELETE' ? [404] : []),
    429,
    500,
  ];
}

/** Gives each API route the errors it may answer with, for the document and the serializer alike. */
function addErrors(route: RouteOptions, { prefix, errors: meanings = publicErrors }: OpenApiOptions): void {
  if (!route.url.startsWith(prefix) || route.schema?.response === undefined) return;
  const errors = errorStatusesOf(route)
    .filter((status) => status in meanings)
    .map((status) => [
      status,
      {
        ...errorEnvelopeSchema,
        'x-response-description': meanings[status],
        ...(meanings === publicErrors ? { 'x-examples': errorExamplesOf(route, status) } : {}),
      },
    ]);
  route.schema.response = { ...(route.schema.response as object), ...Object.fromEntries(errors) };
}

/** `POST /messages/send` → `postMessagesSend`, in the section `messages`. */
function nameOperation(schema: FastifySchema, route: RouteOptions, prefix: string): FastifySchema {
  const words = route.url
    .slice(prefix.length)
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== '');
  const capitalized = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('');
  return { ...schema, operationId: `${String(route.method).toLowerCase()}${capitalized}`, tags: [words[0] ?? 'other'] };
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Schemas with a title become named components, so that the document says `Message` once. */
function nameComponents(document: { [key: string]: Json }): { [key: string]: Json } {
  const schemas: { [key: string]: Json } = {};
  const visit = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(visit);
    if (value === null || typeof value !== 'object') return value;
    const visited = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]));
    const { title, type } = visited;
    if (typeof title !== 'string' || type === undefined) return visited;
    schemas[title] = visited;
    return { $ref: `#/components/schemas/${title}` };
  };
  const paths = visit(document['paths'] ?? {});
  const components = (document['components'] ?? {}) as { [key: string]: Json };
  return { ...document, paths, components: { ...components, schemas } };
}

/** An OpenAPI 3.1 document made from the schemas of the routes registered after this, and served beside them. */
export async function registerOpenApi(app: App, options: OpenApiOptions): Promise<void> {
  const { prefix, title, description, version, bearer, path, decorator } = options;
  app.addHook('onRoute', (route) => addErrors(route, options));
  await app.register(swagger, {
    decorator,
    openapi: {
      openapi: '3.1.0',
      info: { title, description, version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      servers: [{ url: prefix }],
      components: {
        securitySchemes: { [bearer.name]: { type: 'http', scheme: 'bearer', description: bearer.description } },
      },
      security: [{ [bearer.name]: [] }],
    },
    stripBasePath: true,
    transform: ({ schema, url, route }) => ({
      schema:
        url.startsWith(`${prefix}/`) && schema !== undefined
          ? nameOperation(schema, { ...route, url }, prefix)
          : { ...schema, hide: true },
      url,
    }),
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('expected an OpenAPI document');
      const plain = JSON.parse(JSON.stringify(document.openapiObject)) as { [key: string]: Json };
      return nameComponents(plain);
    },
  });
  app.get(path, { schema: { hide: true } }, async () => app[decorator]());
}
