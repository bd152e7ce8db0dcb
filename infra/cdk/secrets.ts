// The secrets of a system. They stay when their stack is deleted, since tokens are signed with keys of them.
import { CfnSecret } from 'aws-cdk-lib/aws-secretsmanager';

import type { Secret } from './declaration.ts';
import { id } from './names.ts';
import { kept } from './storage.ts';
import type { SystemStack } from './system.ts';

export function secret(stack: SystemStack, declared: Secret): CfnSecret {
  return kept(
    new CfnSecret(stack, id(declared.name, 'Secret'), {
      name: stack.names.secret(declared.name),
      description: declared.description,
      generateSecretString: { passwordLength: declared.length, excludePunctuation: true },
      tags: stack.tagList,
    }),
  );
}
