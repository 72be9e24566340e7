import swagger from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import { errorCatalogue, type ErrorCode } from '../lib/errors.ts';
import { exampleOf } from './answer-example.ts';
import { addHeaders, headerComponents } from './answer-headers.ts';
import type { App } from './app.ts';
import { errorExamplesOf } from './error-examples.ts';
import { errorEnvelopeSchema } from './errors.ts';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export type OpenApiOptions = {
  /** Which routes the document holds; every document is registered on the root. */
  prefix: string;
  title: string;
  description: string;
  version: string;
  /** Name of the security scheme, what its token is, and how a request without one is told to send it. */
  bearer: { name: string; description: string; request: string };
  /** Where the document is served, and the function on the instance that makes it. */
  path: string;
  decorator: 'publicApi' | 'operatorApi';
  /** What each status of an error means here. */
  meanings: Record<number, string>;
  /** Requests that the service makes itself, by name. */
  webhooks?: object;
};

declare module 'fastify' {
  interface FastifyInstance {
    publicApi: () => object;
    operatorApi: () => object;
  }
  interface FastifyContextConfig {
    /** Errors that this route answers with besides those of all routes, for the document. */
    codes?: readonly ErrorCode[];
  }
}

/** Callers of the public API have keys, with permissions and limits; the operator has one token. */
function codesOf({ method, schema, config }: RouteOptions, isPublic: boolean): ErrorCode[] {
  const isRead = method === 'GET' || method === 'HEAD';
  const takesInput = !isRead || schema?.querystring !== undefined;
  const limits = ['daily_limit_exceeded', 'monthly_limit_exceeded'] as const;
  return [
    ...(config?.codes ?? []),
    ...(takesInput ? (['invalid_request'] as const) : []),
    'unauthorized',
    ...(isPublic ? (['forbidden', 'rate_limit_exceeded'] as const) : []),
    ...(config?.sends === true ? (['insufficient_balance', 'account_suspended', ...limits] as const) : []),
    ...(schema?.params !== undefined || method === 'DELETE' ? (['not_found'] as const) : []),
    'internal_error',
  ];
}

/** Gives each route its errors and examples of all its answers, for the document and the serializer alike. */
function completeAnswers(route: RouteOptions, { prefix, decorator, meanings, bearer }: OpenApiOptions): void {
  const { url, schema } = route;
  if (!url.startsWith(prefix) || schema?.response === undefined) return;
  const successes = Object.entries(schema.response as Record<string, object>)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, success]) => [status, { ...success, 'x-examples': { success: { value: exampleOf(success) } } }]);
  const codes = codesOf(route, decorator === 'publicApi');
  const statuses = [...new Set(codes.map((code) => errorCatalogue[code].status))];
  const errors = statuses.map((status) => {
    const ofStatus = codes.filter((code) => errorCatalogue[code].status === status);
    const examples = errorExamplesOf(ofStatus, route, bearer.request);
    return [status, { ...errorEnvelopeSchema, 'x-response-description': meanings[status], 'x-examples': examples }];
  });
  schema.response = Object.fromEntries([...successes, ...errors]);
}

/** `POST /messages/send` → `postMessagesSend`, in the section `messages`. */
function nameOperation(schema: FastifySchema, route: RouteOptions, prefix: string): FastifySchema {
  const path = route.url.slice(prefix.length);
  const words = path.split(/[^A-Za-z]+/).filter((word) => word !== '');
  const capitalized = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('');
  const [, section = 'other'] = path.split('/');
  return { ...schema, operationId: `${String(route.method).toLowerCase()}${capitalized}`, tags: [section] };
}

/** Schemas with a title become named components, so that the document says `Message` once. */
function nameComponents(document: JsonObject): JsonObject {
  const schemas: JsonObject = {};
  const visit = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(visit);
    if (value === null || typeof value !== 'object') return value;
    const visited = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]));
    const { title, type } = visited;
    if (typeof title !== 'string' || type === undefined) return visited;
    schemas[title] = visited;
    return { $ref: `#/components/schemas/${title}` };
  };
  const { paths = {}, webhooks, components = {}, ...rest } = document;
  return {
    ...rest,
    paths: visit(paths),
    ...(webhooks === undefined ? {} : { webhooks: visit(webhooks) }),
    components: { ...(components as JsonObject), schemas },
  };
}

/** An OpenAPI 3.1 document made from the schemas of the routes registered after this, and served beside them. */
export async function registerOpenApi(app: App, options: OpenApiOptions): Promise<void> {
  const { prefix, title, description, version, bearer, path, decorator, webhooks } = options;
  const isPublic = decorator === 'publicApi';
  app.addHook('onRoute', (route) => completeAnswers(route, options));
  await app.register(swagger, {
    decorator,
    openapi: {
      openapi: '3.1.0',
      info: { title, description, version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      servers: [{ url: prefix }],
      components: {
        securitySchemes: { [bearer.name]: { type: 'http', scheme: 'bearer', description: bearer.description } },
        headers: headerComponents(isPublic),
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
      const plain = JSON.parse(JSON.stringify({ ...document.openapiObject, webhooks })) as JsonObject;
      addHeaders(plain, isPublic);
      return nameComponents(plain);
    },
  });
  app.get(path, { schema: { hide: true } }, async () => app[decorator]());
}
