import { defineConfig } from '@hey-api/openapi-ts'

export default defineConfig({
  input: '../../functions/parks/openapi.json',
  output: 'generated/parks',
})
