// The tables and buckets of a system. They stay when their stack is deleted.
import { CfnDeletionPolicy, type CfnResource } from 'aws-cdk-lib';
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { StarPrincipal, Effect, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnBucket, CfnBucketPolicy } from 'aws-cdk-lib/aws-s3';

import { type Bucket, type Table, declaration } from './declaration.ts';
import { id } from './names.ts';
import type { SystemStack } from './system.ts';

export function table(stack: SystemStack, declared: Table): CfnTable {
  const keys = [declared, ...declared.indexes].flatMap(({ pk, sk }) => (sk === null ? [pk] : [pk, sk]));
  return kept(
    new CfnTable(stack, id(declared.name, 'Table'), {
      tableName: stack.names.table(declared.name),
      billingMode: 'PAY_PER_REQUEST',
      attributeDefinitions: [...new Set(keys)].map((attributeName) => ({ attributeName, attributeType: 'S' })),
      keySchema: key(declared),
      globalSecondaryIndexes: declared.indexes.length === 0 ? undefined : declared.indexes.map((index) => ({
        indexName: index.name,
        keySchema: key(index),
        projection: {
          projectionType: index.projection,
          nonKeyAttributes: index.projection === 'INCLUDE' ? index.attributes : undefined,
        },
      })),
      streamSpecification: declared.stream ? { streamViewType: 'NEW_AND_OLD_IMAGES' } : undefined,
      timeToLiveSpecification: { attributeName: 'expires', enabled: true },
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtectionEnabled: stack.parameters.flag('DeletionProtection'),
      tags: stack.tagList,
    }),
  );
}

function key({ pk, sk }: { pk: string; sk: string | null }): CfnTable.KeySchemaProperty[] {
  const range = sk === null ? [] : [{ attributeName: sk, keyType: 'RANGE' }];
  return [{ attributeName: pk, keyType: 'HASH' }, ...range];
}

// A bucket of the system. Its notifications are added when the functions exist.
export function bucket(stack: SystemStack, declared: Bucket): CfnBucket {
  // As long as a table can be restored, since its items name these objects.
  const made = privateBucket(stack, declared.name, declared.expiring, 35);
  // Web pages use signed links, too.
  made.corsConfiguration = {
    corsRules: [
      {
        allowedMethods: ['GET', 'PUT'],
        allowedOrigins: stack.parameters.corsOrigins,
        allowedHeaders: ['*'],
        exposedHeaders: ['ETag'],
        maxAge: declaration.cors.maxAge,
      },
    ],
  };
  return made;
}

// The bucket of stream records that the mirror could not handle in time.
export function failures(stack: SystemStack): CfnBucket {
  // Deleted entries soon leave the count of discarded records.
  return privateBucket(stack, stack.names.failures, [{ prefix: '', days: 90 }], 1);
}

function privateBucket(stack: SystemStack, name: string, expiring: Bucket['expiring'], noncurrentDays: number): CfnBucket {
  const made = new CfnBucket(stack, id(name, 'Bucket'), {
    bucketName: stack.names.bucket(name),
    bucketEncryption: {
      serverSideEncryptionConfiguration: [{ serverSideEncryptionByDefault: { sseAlgorithm: 'AES256' } }],
    },
    publicAccessBlockConfiguration: {
      blockPublicAcls: true,
      blockPublicPolicy: true,
      ignorePublicAcls: true,
      restrictPublicBuckets: true,
    },
    ownershipControls: { rules: [{ objectOwnership: 'BucketOwnerEnforced' }] },
    versioningConfiguration: { status: 'Enabled' },
    lifecycleConfiguration: {
      rules: [
        ...expiring.map(({ prefix, days }) => ({
          status: 'Enabled',
          prefix: prefix === '' ? undefined : prefix,
          expirationInDays: days,
        })),
        {
          status: 'Enabled',
          abortIncompleteMultipartUpload: { daysAfterInitiation: 1 },
          noncurrentVersionExpiration: { noncurrentDays },
          expiredObjectDeleteMarker: true,
        },
      ],
    },
    tags: stack.tagList,
  });
  const arn = stack.names.bucketArn(name);
  const tlsOnly = new PolicyStatement({
    sid: 'TlsOnly',
    effect: Effect.DENY,
    principals: [new StarPrincipal()],
    actions: ['s3:*'],
    resources: [arn, `${arn}/*`],
    conditions: { Bool: { 'aws:SecureTransport': 'false' } },
  });
  kept(
    new CfnBucketPolicy(stack, id(name, 'BucketPolicy'), {
      bucket: made.ref,
      policyDocument: new PolicyDocument({ statements: [tlsOnly] }),
    }),
  );
  return kept(made);
}

// Deleting a stack loses no data. A failed first deployment deletes its empty resources, which would block the next.
export function kept<Kind extends CfnResource>(resource: Kind): Kind {
  resource.cfnOptions.deletionPolicy = CfnDeletionPolicy.RETAIN_EXCEPT_ON_CREATE;
  resource.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
  return resource;
}
