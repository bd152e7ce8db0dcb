// Cairn for those who deploy with CDK: the shared stack, and one stack per system, made of what the systems declare.
import { App, DefaultStackSynthesizer, Validations } from 'aws-cdk-lib';

import { declaration } from './declaration.ts';
import { SharedStack } from './shared.ts';
import { SystemStack } from './system.ts';

const app = new App();
// Another deployment in the same account has stacks of its own.
const deployment: string = app.node.tryGetContext('deployment') ?? 'cairn';
const stack = (name: string) => ({
  stackName: `${deployment}-${name}`,
  // A parameter of its own for the bootstrap's version would be one more than the templates have.
  synthesizer: new DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
});
const shared = new SharedStack(app, stack('shared'));
Validations.of(shared).acknowledge({
  id: 'CloudFormation-Validate::W1001',
  reason: 'The outputs name the domain only where the condition that makes it holds.',
});
// CDK wants the zips of all stacks that it makes, also where one is deployed: -c systems=parks,tracker makes no other.
const chosen: string[] | undefined = app.node.tryGetContext('systems')?.split(',');
const unknown = chosen?.find((name) => !declaration.systems.some((system) => system.name === name));
if (unknown !== undefined) {
  throw new Error(`there is no system ${unknown}; there are ${declaration.systems.map(({ name }) => name).join(', ')}`);
}
for (const system of declaration.systems.filter(({ name }) => chosen?.includes(name) ?? true)) {
  const made = new SystemStack(app, system, stack(system.name));
  Validations.of(made).acknowledge({
    id: 'CloudFormation-Validate::F3033',
    reason: 'Alarms name the topic only where the condition that there is one holds: its ARN is never empty there.',
  });
}
app.synth();
