// SPDX-License-Identifier: Apache-2.0
//
// Source annotations of drivers: interrupt levels, resources, memory that changes hands. All are
// empty.
#pragma once

#include "concurrencysal.h"

#define _IRQL_is_cancel_
#define _IRQL_requires_same_
#define _IRQL_restores_
#define _IRQL_saves_
#define _IRQL_uses_cancel_
#define _IRQL_inout_
#define _Kernel_float_restored_
#define _Kernel_float_saved_
#define _Kernel_float_used_
#define _Kernel_IoGetDmaAdapter_
#define __drv_acquiresCancelSpinLock
#define __drv_acquiresCriticalRegion
#define __drv_acquiresPriorityRegion
#define __drv_releasesCancelSpinLock
#define __drv_releasesCriticalRegion
#define __drv_releasesPriorityRegion
#define __drv_mustHoldCancelSpinLock
#define __drv_mustHoldCriticalRegion
#define __drv_mustHoldPriorityRegion
#define __drv_neverHoldCancelSpinLock
#define __drv_neverHoldCriticalRegion
#define __drv_neverHoldPriorityRegion
#define __drv_aliasesMem
#define __drv_clearDoInit
#define __drv_constant
#define __drv_nonConstant
#define __drv_dispatchType_other
#define __drv_floatRestored
#define __drv_floatSaved
#define __drv_floatUsed
#define __drv_interlocked
#define __drv_inTry
#define __drv_notInTry
#define __drv_IoGetDmaAdapter
#define __drv_isCancelIRQL
#define __drv_isObjectPointer
#define __drv_notPointer
#define __drv_KMDF
#define __drv_NDIS
#define __drv_WDM
#define __drv_restoresIRQL
#define __drv_sameIRQL
#define __drv_savesIRQL
#define __drv_useCancelIRQL
#define __kernel_code
#define __kernel_driver
#define __user_code
#define __user_driver
#define __internal_kernel_driver
#define __prefast_operator_new_null
#define __prefast_operator_new_throws
#define _Dispatch_type_(value)
#define _IRQL_always_function_max_(irql)
#define _IRQL_always_function_min_(irql)
#define _IRQL_raises_(irql)
#define _IRQL_lowers_(irql)
#define _IRQL_requires_(irql)
#define _IRQL_requires_max_(irql)
#define _IRQL_requires_min_(irql)
#define _Kernel_clear_do_init_(value)
#define _Kernel_releases_resource_(kind)
#define _Kernel_acquires_resource_(kind)
#define _Kernel_requires_resource_held_(kind)
#define _Kernel_requires_resource_not_held_(kind)
#define _Landmark_(name)
#define __drv_acquiresResource(kind)
#define __drv_acquiresExclusiveResource(kind)
#define __drv_releasesResource(kind)
#define __drv_releasesExclusiveResource(kind)
#define __drv_allocatesMem(kind)
#define __drv_freesMem(kind)
#define __drv_callbackType(kind)
#define __drv_completionType(kind)
#define __drv_defined(value)
#define __drv_deref(annotations)
#define __drv_dispatchType(kind)
#define __drv_formatString(value)
#define __drv_fun(annotations)
#define __drv_functionClass(name)
#define __drv_in(annotations)
#define __drv_in_deref(annotations)
#define __drv_out(annotations)
#define __drv_out_deref(annotations)
#define __drv_ret(annotations)
#define __drv_maxIRQL(irql)
#define __drv_maxFunctionIRQL(irql)
#define __drv_minIRQL(irql)
#define __drv_minFunctionIRQL(irql)
#define __drv_mustHold(kind)
#define __drv_neverHold(kind)
#define __drv_raisesIRQL(irql)
#define __drv_requiresIRQL(irql)
#define __drv_setsIRQL(irql)
#define __drv_reportError(value)
#define __drv_strictTypeMatch(kind)
#define __drv_unit(value)
#define __drv_valueIs(value)
#define __drv_Mode_impl(value)
#define _IRQL_restores_global_(kind, parameter)
#define _IRQL_saves_global_(kind, parameter)
#define __drv_acquiresResourceGlobal(kind, parameter)
#define __drv_acquiresExclusiveResourceGlobal(kind, parameter)
#define __drv_releasesResourceGlobal(kind, parameter)
#define __drv_releasesExclusiveResourceGlobal(kind, parameter)
#define __drv_arg(target, annotations)
#define __drv_at(target, annotations)
#define __drv_when(condition, annotations)
#define __drv_restoresIRQLGlobal(kind, parameter)
#define __drv_savesIRQLGlobal(kind, parameter)
#define __drv_mustHoldGlobal(kind, parameter)
#define __drv_neverHoldGlobal(kind, parameter)
#define __drv_innerAcquiresGlobal(kind, parameter)
#define __drv_innerReleasesGlobal(kind, parameter)
#define __drv_innerMustHoldGlobal(kind, parameter)
#define __drv_innerNeverHoldGlobal(kind, parameter)
#define __drv_preferredFunction(first, second)
#define __drv_strictType(first, second)
#define __drv_holdsCancelSpinLock()
#define __drv_holdsCriticalRegion()
#define __drv_holdsPriorityRegion()
