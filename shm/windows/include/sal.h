// SPDX-License-Identifier: Apache-2.0
//
// Source annotations. They say who reads and writes a parameter and mean nothing to this compiler.
// Of the old lower-case forms, C++ lacks __in and __out: its library uses those names itself.
#pragma once

// These headers are read by C, too.
#if defined(__cplusplus)
#define METERBANK_CAST(type, value) (static_cast<type>(value))
#else
#define METERBANK_CAST(type, value) ((type)(value))
#define __in
#define __out
#endif
#define __in_opt
#define __in_bcount(bytes)
#define __in_bcount_opt(bytes)
#define __in_ecount(count)
#define __in_ecount_opt(count)
#define __out_opt
#define __out_bcount(bytes)
#define __out_ecount(count)
#define __inout_opt

#define _In_
#define _In_opt_
#define _In_z_
#define _In_opt_z_
#define _In_range_(low, high)
#define _In_reads_(count)
#define _In_reads_opt_(count)
#define _In_reads_z_(count)
#define _In_reads_bytes_(bytes)
#define _In_reads_bytes_opt_(bytes)
#define _Out_
#define _Out_opt_
#define _Out_writes_(count)
#define _Out_writes_opt_(count)
#define _Out_writes_z_(count)
#define _Out_writes_all_(count)
#define _Out_writes_to_(count, used)
#define _Out_writes_to_opt_(count, used)
#define _Out_writes_bytes_(bytes)
#define _Out_writes_bytes_opt_(bytes)
#define _Out_writes_bytes_to_(bytes, used)
#define _Out_writes_bytes_to_opt_(bytes, used)
#define _Outptr_
#define _Outptr_result_maybenull_
#define _Inout_
#define _Inout_opt_
#define _Inout_updates_(count)
#define _Inout_updates_bytes_(bytes)
#define _Inout_updates_bytes_opt_(bytes)
#define _Ret_maybenull_
#define _Ret_notnull_
#define _Ret_z_
#define _Reserved_
#define _Check_return_
#define _Must_inspect_result_
#define _Success_(condition)
#define _When_(condition, annotations)
#define _At_(target, annotations)
#define _Field_size_(count)
#define _Field_size_bytes_(bytes)
#define _Field_size_full_(count)
#define _Field_range_(low, high)
#define _Field_z_
#define _Null_terminated_
#define _Printf_format_string_
#define _Pre_
#define _Post_
#define _Pre_satisfies_(condition)
#define _Post_satisfies_(condition)
#define _Analysis_assume_(condition) METERBANK_CAST(void, 0)
#define _Use_decl_annotations_
#define _Function_class_(name)
#define _IRQL_requires_(level)
#define _IRQL_requires_max_(level)
#define _IRQL_requires_same_
#define __analysis_assume(condition) METERBANK_CAST(void, 0)
#define UNREFERENCED_PARAMETER(parameter) METERBANK_CAST(void, parameter)
